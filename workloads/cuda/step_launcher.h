#pragma once

#include "kernels/device.h"

namespace swinscope {

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
