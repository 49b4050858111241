// What an export says of a GPU event beyond its own record: the layer, phase and operator in which it was launched,
// what that operation does by its annotation, its collective, and its step.
//
// A GPU event belongs to the ranges that were open on the launching thread when the launching call began; in a CUDA
// graph, when its node was captured. The innermost one with an annotation of our workloads, or of a PyTorch module, is
// its layer; the innermost one in domain torch.cpu_op its operator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/facts/scope.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

// Of a range's payload, schema swinscope.operation/1.
struct OperationNote {
  std::string precision;
  std::int64_t flops = 0;  // 2 per multiply-add
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
};

class GpuLinks {
 public:
  // Of Trace::ranks[rank_index].
  GpuLinks(const Trace& trace, const RunScope& scope, std::size_t rank_index);

  // Ranges of the rank, kNoEvent where there is none.
  EventIndex layer(EventIndex gpu_event) const { return layers_.empty() ? kNoEvent : layers_[gpu_event]; }
  EventIndex phase(EventIndex gpu_event) const { return phases_.empty() ? kNoEvent : phases_[gpu_event]; }
  EventIndex torch_operator(EventIndex gpu_event) const {
    return operators_.empty() ? kNoEvent : operators_[gpu_event];
  }
  // "stage3.block5.attn.qkv"; "" without a layer.
  std::string_view layer_path(EventIndex gpu_event) const;
  // Null where the layer says nothing of what it does.
  const OperationNote* note(EventIndex gpu_event) const;
  const CollectiveRecord* collective(EventIndex gpu_event) const;
  // Counted from 1; 0 outside of steps.
  std::int64_t step(EventIndex gpu_event) const;

 private:
  void find_layers();

  const Trace& trace_;
  const Rank& rank_;
  const RankSteps& steps_;
  std::vector<EventIndex> layers_;
  std::vector<EventIndex> phases_;
  std::vector<EventIndex> operators_;
  std::unordered_map<StringId, std::optional<OperationNote>> notes_;  // by payload
};

}  // namespace swinscope
