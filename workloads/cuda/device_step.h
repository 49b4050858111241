// What a pass on a device is a list of.
#pragma once

#include <functional>

#include "kernels/device.h"
#include "workloads/annotate.h"

namespace swinscope {

// One or a few kernels. `name` is the layer path; several steps may share one.
struct DeviceStep {
  RangeName name;
  OperationPayload payload;
  std::function<void(cuda::Stream)> run;
};

}  // namespace swinscope
