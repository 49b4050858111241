// Launches a list of device steps: one by one with an NVTX range each, or captured once and replayed as a CUDA graph.
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

// The same without ranges: to load kernels or to time ways to compute, which is no layer's work.
inline void run_unannotated(std::span<const DeviceStep> steps, cuda::Stream stream) {
  for (const DeviceStep& step : steps)
    step.run(stream);
}

// A forward pass as a graph, before the first one is wanted, so that all passes are alike.
inline void capture_pass(std::span<const DeviceStep> steps, cuda::Stream stream, cuda::Graph& graph) {
  // Kernels are loaded at their first launch, which a capture does not allow everywhere.
  run_unannotated(steps, stream);
  cuda::synchronize(stream);
  const PhaseRange phase(Phase::kForward);
  graph.begin_capture(stream);
  run_steps(steps, stream);
  graph.end_capture(stream);
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
