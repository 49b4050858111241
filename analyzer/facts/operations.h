// The operations of a rank and the GPU events that belong to each: what they are called, what they do and cost, and the
// shapes of their inputs. Layers and whatever predicts their cost read these.
//
//   own        ranges in domain `swinscope` whose payload is of schema swinscope.operation/1
//   modules    ranges of `record --torch-modules` in the default domain
//   PyTorch's  operators and modules of a profiler's trace (torch_layers.h), where a rank has neither of the others
// A GPU event belongs to the innermost operation of the launching thread that holds its launch; inside a CUDA graph,
// that held the capture of its node.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/facts/torch_layers.h"
#include "analyzer/trace/own_payloads.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

using OperationId = std::uint32_t;
inline constexpr OperationId kNoOperation = std::numeric_limits<OperationId>::max();

struct Operation {
  EventIndex range = kNoEvent;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t global_tid = 0;
  std::string_view path;                   // "stage3.block5.attn.qkv"
  std::string_view phase;                  // forward, backward, optimizer, …; empty outside of any
  const OperationPayload* what = nullptr;  // never null; without cost where that is not known
  std::string_view dims;                   // of PyTorch's operators: shapes of the inputs, "[[8,96],[]]"
  OperationId outer = kNoOperation;        // of PyTorch's: the one around it
};

class RankOperations {
 public:
  // The trace must outlive it.
  RankOperations(const Trace& trace, const Rank& rank);
  RankOperations(RankOperations&&) = default;
  RankOperations(const RankOperations&) = delete;
  RankOperations& operator=(const RankOperations&) = delete;
  RankOperations& operator=(RankOperations&&) = delete;
  ~RankOperations() = default;

  // By domain and thread, of one thread in the order in which they began, outer ones first.
  const std::vector<Operation>& all() const { return all_; }
  // They are the operators and modules of a profiler's trace.
  bool are_torch_profile() const { return are_torch_profile_; }
  // kNoOperation where none holds the launch, or that was not recorded.
  OperationId of_event(EventIndex gpu_event) const { return of_event_.empty() ? kNoOperation : of_event_[gpu_event]; }
  // What the event does: the matrix product or convolution within its operation that launched it, where that is known
  // of PyTorch's operators, else what its operation does. nullptr: it belongs to none.
  const OperationPayload* what_of_event(EventIndex gpu_event) const;
  // Of an event that belongs to an operation: by the capture of its CUDA graph node, not by its launch.
  bool is_replay(EventIndex gpu_event) const { return is_replay_[gpu_event]; }

 private:
  void add_own(const RangeLane& lane);
  void add_modules(const RangeLane& lane);
  void add_torch();
  const OperationPayload& torch_what(const TorchLayers::Call& call, const OperationPayload* products);
  void add(EventIndex range, std::uint64_t global_tid, std::string_view path, std::string_view phase,
           const OperationPayload& what);
  void join_events();

  const Trace* trace_;
  const Rank* rank_;
  OperationPayloads payloads_;
  InputDims dims_;
  TorchLayers torch_;  // owns the paths
  TorchCosts torch_costs_;
  std::deque<OperationPayload> torch_whats_;  // of operators whose inputs were recorded
  std::vector<Operation> all_;
  std::vector<OperationId> of_event_;
  std::vector<const OperationPayload*> product_of_event_;  // empty: none is known
  std::vector<bool> is_replay_;
  bool are_torch_profile_ = false;
};

// Of each rank, in the order of Trace::ranks.
std::vector<RankOperations> find_operations(const Trace& trace);

}  // namespace swinscope
