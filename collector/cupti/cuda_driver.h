// The CUDA driver that is in this process; it is neither loaded nor initialized by this.
#pragma once

#include <string>
#include <vector>

#include "store/records.h"

namespace swinscope {

// The GPUs of this process, in the order of CUDA's ordinals; none where the driver is not there or was not initialized.
// CUPTI tells of them only when it listens at the program's first contact with CUDA. For any thread.
std::vector<GpuInfo> driver_devices();

// Where a GPU is on the PCI bus ("0000:3b:00.0"); empty where the driver is not there. For any thread.
std::string driver_bus_location(int ordinal);

// Until what was launched in this thread's context is done; at once where it has none. Not while the thread captures a
// graph: that would end the capture.
void wait_for_context();

}  // namespace swinscope
