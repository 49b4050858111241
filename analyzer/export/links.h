// What an export says of a GPU event beyond its own record: the layer, phase and operator in which it was launched,
// what that operation does by its annotation, its collective, and its step.
//
// A GPU event belongs to the ranges that were open on the launching thread when the launching call began; in a CUDA
// graph, when its node was captured. The innermost one with an annotation of our workloads, or of a PyTorch module, is
// its layer; the innermost one in domain torch.cpu_op its operator.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/facts/operations.h"
#include "analyzer/facts/scope.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

class GpuLinks {
 public:
  // Of Trace::ranks[rank_index].
  GpuLinks(const Trace& trace, const RunScope& scope, std::size_t rank_index);

  // Ranges of the rank, kNoEvent where there is none.
  EventIndex phase(EventIndex gpu_event) const { return phases_.empty() ? kNoEvent : phases_[gpu_event]; }
  EventIndex torch_operator(EventIndex gpu_event) const {
    return operators_.empty() ? kNoEvent : operators_[gpu_event];
  }
  // "stage3.block5.attn.qkv"; "" without a layer.
  std::string_view layer_path(EventIndex gpu_event) const;
  // Null where the layer says nothing of what it does.
  const OperationPayload* note(EventIndex gpu_event) const;
  const CollectiveRecord* collective(EventIndex gpu_event) const;
  // Counted from 1; 0 outside of steps.
  std::int64_t step(EventIndex gpu_event) const;

 private:
  void find_ranges();
  const Operation* operation(EventIndex gpu_event) const;

  const Trace& trace_;
  const Rank& rank_;
  const RankSteps& steps_;
  RankOperations operations_;
  std::vector<EventIndex> phases_;
  std::vector<EventIndex> operators_;
};

}  // namespace swinscope
