// Runs a graph by the CPU's operations: the reference that everything else is compared with. Memory for what lives
// within a pass is taken once, by a plan; every op is annotated.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "workloads/annotate.h"
#include "workloads/communicator.h"
#include "workloads/graph/graph.h"
#include "workloads/parameters.h"

namespace swinscope {

// Called during a backward pass with a position in the flat gradient buffer: all gradients before it are final.
using GradientsReady = std::function<void(std::int64_t end)>;

// T is float or double, as the graph's type says. The store, with gradients for a graph that has a backward pass, and
// the communicator (null: one rank) must outlive the backend.
template <typename T>
class HostBackend {
 public:
  HostBackend(Graph graph, ParameterStore<T>& store, Communicator* communicator);

  const Graph& graph() const { return graph_; }
  // Where an input lies from now on.
  void bind(TensorId input, const T* values);
  // Of an output, after a pass.
  std::span<const T> values(TensorId id) const;
  std::int64_t planned_bytes() const { return planned_bytes_; }

  void make_constants() { run(once_); }
  void forward() { run(forward_); }
  // Calls `ready` where a section of the model is done.
  void backward(const GradientsReady& ready);

 private:
  struct Step {
    const Op* op;
    RangeName name;
    OperationPayload payload;
  };

  std::vector<Step> steps_of(const std::vector<Op>& ops) const;
  void place(ParameterStore<T>& store);
  void* place_of(const GraphTensor& tensor, ParameterStore<T>& store);
  void run(const std::vector<Step>& steps);
  void run(const Step& step);
  void run_forward(const Op& op);
  void run_backward(const Op& op);
  void run_maps_backward(const Op& op);

  T* at(TensorId id) const {
    return id == kNoTensor ? nullptr : static_cast<T*>(memory_[static_cast<std::size_t>(id)]);
  }
  T* in(const Op& op, std::size_t index) const { return index < op.in.size() ? at(op.in[index]) : nullptr; }
  T* out(const Op& op, std::size_t index) const { return index < op.out.size() ? at(op.out[index]) : nullptr; }
  double* sums(TensorId id) const { return static_cast<double*>(memory_[static_cast<std::size_t>(id)]); }
  std::int64_t count(TensorId id) const { return graph_.at(id).count(); }
  void copy_unless_shared(TensorId from, TensorId to);
  void concat(const Op& op);
  void add(const Op& op);
  void joint_bias(const Op& op);
  void all_reduce(const Op& op);

  Graph graph_;
  Communicator* communicator_;
  std::vector<Step> once_, forward_, backward_;
  std::int64_t planned_bytes_ = 0;
  std::int64_t flat_count_;
  std::unique_ptr<std::byte[]> arena_;
  std::vector<void*> memory_;                // by tensor
  std::vector<std::int64_t> gradient_ends_;  // by tensor, in the flat buffer; 0 for all but parameters' gradients
};

}  // namespace swinscope
