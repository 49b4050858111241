// The GPUs of this process as the CUDA driver in it tells of them. CUPTI does so only when it listens at the program's
// first contact with CUDA: a window that opens later gets no records of devices.
#pragma once

#include <vector>

#include "store/records.h"

namespace swinscope {

// In the order of CUDA's ordinals. None where the driver is not loaded or was not initialized; it is neither loaded nor
// initialized by this. For any thread.
std::vector<GpuInfo> driver_devices();

}  // namespace swinscope
