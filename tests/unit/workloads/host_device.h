// The device functions that training calls, in host memory and by the CPU's operations: what trains on a GPU runs in
// any test. Values are kept in the element type, so that sizes, places and roundings are those of the device; memory is
// NaN until it is written. Streams run at once, captured graphs when they are launched.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/device.h"

namespace swinscope::test {

// So far, of the whole program.
struct HostDeviceCounts {
  std::int64_t launches = 0;  // operations that ran, outside of graphs or in one
  std::int64_t graph_launches = 0;
  std::int64_t waits = 0;  // of the host for an event or a stream
};
HostDeviceCounts host_device_counts();

// The GPU that this device is taken for: so are the kernels chosen. At first one that has no kernels of its own.
void set_host_gpu(const cuda::DeviceInfo& gpu);

// While one lives, nothing runs and memory is reserved only: what is launched is written down, by its function's name
// (products and convolutions with their shapes). So the operations of any model can be listed anywhere.
class HostDeviceRecording {
 public:
  HostDeviceRecording();
  ~HostDeviceRecording();
  HostDeviceRecording(const HostDeviceRecording&) = delete;
  HostDeviceRecording& operator=(const HostDeviceRecording&) = delete;
  HostDeviceRecording(HostDeviceRecording&&) = delete;
  HostDeviceRecording& operator=(HostDeviceRecording&&) = delete;
  // What was launched since the last call.
  std::vector<std::string> take();
};

}  // namespace swinscope::test
