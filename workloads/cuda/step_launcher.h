#pragma once

#include <span>

#include "kernels/device.h"
#include "workloads/cuda/device_model.h"

namespace swinscope {

// One by one, each within the range of its layer path.
inline void run_steps(std::span<const DeviceStep> steps, cuda::Stream stream) {
  for (const DeviceStep& step : steps) {
    const OperationRange range(step.name, step.payload);
    step.run(stream);
  }
}

// Launches a piece of work one by one or, where wanted, as a graph: after the first time, which loads the kernels and
// makes whatever a library makes at a first call.
class StepLauncher {
 public:
  template <typename Body>
  void run(bool as_graph, cuda::Stream stream, const Body& body) {
    if (!as_graph || !warm_) {
      warm_ = true;
      body();
      return;
    }
    if (!graph_.captured()) {
      graph_.begin_capture(stream);
      body();
      graph_.end_capture(stream);
    }
    graph_.launch(stream);
  }
  std::size_t nodes() const { return graph_.nodes(); }

 private:
  cuda::Graph graph_;
  bool warm_ = false;
};

}  // namespace swinscope
