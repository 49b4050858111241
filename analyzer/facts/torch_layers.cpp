#include "analyzer/facts/torch_layers.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analyzer/trace/thread_ranges.h"
#include "analyzer/trace/torch_operation.h"

namespace swinscope {
namespace {

constexpr std::string_view kModule = "nn.Module: ";
constexpr std::string_view kBackwardNode = "autograd::engine::evaluate_function: ";
constexpr std::string_view kOptimizer = "Optimizer.";

class LayerFinder {
 public:
  LayerFinder(const Trace& trace, const Rank& rank, TorchCosts& costs) : trace_(trace), rank_(rank), costs_(costs) {
    layers_.paths.emplace_back();
  }

  TorchLayers find() {
    for (const RangeLane& lane : rank_.range_lanes)
      domains_.try_emplace(lane.domain, kind_of(rank_.domain_name(lane.domain, trace_.strings)));
    if (std::ranges::none_of(domains_, [](const auto& domain) { return domain.second == Kind::kOperator; })) return {};
    for (const ThreadRanges& thread :
         thread_ranges(rank_, [&](std::uint32_t domain) { return domains_.at(domain) != Kind::kOther; }))
      walk(thread);
    for (const BackwardCall& backward : backward_)
      name_after_forward(backward);
    return std::move(layers_);
  }

 private:
  // What the ranges of a domain are.
  enum class Kind : std::uint8_t { kOther, kOperator, kPython, kAnnotation };

  // What holds within a range.
  struct Around {
    std::uint32_t path = 0;
    std::uint32_t call = TorchLayers::kNone;  // the innermost
    TorchPhase phase = TorchPhase::kNone;     // that it gives to what lies within
    bool in_operator = false;                 // since the innermost module
    bool in_module = false;
  };
  struct Forward {
    std::uint32_t call;
    bool is_ambiguous;  // several threads have operators of that number
  };
  struct BackwardCall {
    std::uint32_t call;
    std::int64_t sequence;
  };

  static Kind kind_of(std::string_view domain) {
    if (domain == kDomainTorchOp) return Kind::kOperator;
    if (domain == kDomainTorchPython) return Kind::kPython;
    return domain == kDomainTorchUser || domain.empty() ? Kind::kAnnotation : Kind::kOther;
  }

  void walk(const ThreadRanges& thread) {
    std::vector<Around> within(thread.nested.size());
    for (std::uint32_t i = 0; i < within.size(); ++i) {
      const std::uint32_t parent = thread.parent[i];
      within[i] = enter(thread, thread.nested[i], parent == ThreadRanges::kNone ? Around() : within[parent]);
    }
  }

  Around enter(const ThreadRanges& thread, EventIndex range, Around around) {
    const std::string_view name = trace_.text(rank_.ranges.name[range]);
    switch (domains_.at(rank_.range_lanes[rank_.ranges.lane[range]].domain)) {
      case Kind::kPython:
        if (name.starts_with(kModule)) enter_module(thread, range, name.substr(kModule.size()), around);
        break;
      case Kind::kAnnotation:
        if (name.starts_with(kOptimizer)) around.phase = TorchPhase::kOptimizer;
        break;
      case Kind::kOperator:
        enter_operator(thread, range, name, around);
        break;
      case Kind::kOther:
        break;
    }
    return around;
  }

  void enter_module(const ThreadRanges& thread, EventIndex range, std::string_view name, Around& around) {
    around.path = path_below(around.path, rank_.ranges.name[range], name);
    around.in_operator = false;
    around.in_module = true;
    const TorchPhase phase = around.phase == TorchPhase::kNone ? TorchPhase::kForward : around.phase;
    around.call = add_call({range, thread.global_tid, around.path, around.call, phase, true, OperationKind::kUnknown});
  }

  void enter_operator(const ThreadRanges& thread, EventIndex range, std::string_view name, Around& around) {
    const std::int64_t sequence = rank_.ranges.sequence.empty() ? -1 : rank_.ranges.sequence[range];
    const bool is_node = name.starts_with(kBackwardNode);
    if (is_node) around.phase = TorchPhase::kBackward;
    if (!around.in_operator) {
      TorchPhase phase = around.phase;
      if (phase == TorchPhase::kNone && (sequence >= 0 || around.in_module)) phase = TorchPhase::kForward;
      const StringId id = rank_.ranges.name[range];
      const std::string_view shown = is_node ? name.substr(kBackwardNode.size()) : name;
      around.call = add_call(
          {range, thread.global_tid, path_below(around.path, id, shown), around.call, phase, false, operation_of(id)});
      around.in_operator = true;
      if (is_node && sequence >= 0) backward_.push_back({around.call, sequence});
    }
    if (sequence >= 0 && around.phase != TorchPhase::kBackward) remember_forward(sequence, around.call);
    const StringId inputs = rank_.ranges.json.empty() ? kNoString : rank_.ranges.json[range];
    if (inputs == kNoString) return;
    std::string_view& precision = layers_.calls[around.call].precision;
    if (precision.empty()) precision = costs_.precision(inputs);
    if (const OperationPayload* what = costs_.product(rank_.ranges.name[range], inputs))
      layers_.products.push_back({range, thread.global_tid, around.call, what});
  }

  // The last one of a number made the node: operators that make none have the number of the next one that does.
  void remember_forward(std::int64_t sequence, std::uint32_t call) {
    const auto [entry, is_new] = forward_.try_emplace(sequence, Forward{call, false});
    if (is_new) return;
    Forward& forward = entry->second;
    forward.is_ambiguous |= layers_.calls[forward.call].global_tid != layers_.calls[call].global_tid;
    forward.call = call;
  }

  void name_after_forward(const BackwardCall& backward) {
    const auto found = forward_.find(backward.sequence);
    if (found == forward_.end() || found->second.is_ambiguous) return;
    const TorchLayers::Call& forward = layers_.calls[found->second.call];
    TorchLayers::Call& call = layers_.calls[backward.call];
    if (rank_.ranges.start_ns[forward.range] > rank_.ranges.start_ns[call.range]) return;  // of an earlier step
    call.path = forward.path;
    call.operation = forward.operation;
  }

  std::uint32_t add_call(const TorchLayers::Call& call) {
    layers_.calls.push_back(call);
    return static_cast<std::uint32_t>(layers_.calls.size() - 1);
  }

  std::uint32_t path_below(std::uint32_t around, StringId id, std::string_view name) {
    const auto [entry, is_new] =
        path_ids_.try_emplace(std::uint64_t{around} << 32U | id, static_cast<std::uint32_t>(layers_.paths.size()));
    if (is_new) {
      const std::string& outer = layers_.paths[around];
      layers_.paths.push_back(outer.empty() ? std::string(name) : outer + '.' + std::string(name));
    }
    return entry->second;
  }

  OperationKind operation_of(StringId name) {
    const auto [entry, is_new] = operations_.try_emplace(name, OperationKind::kUnknown);
    if (is_new) entry->second = torch_operation(trace_.text(name));
    return entry->second;
  }

  const Trace& trace_;
  const Rank& rank_;
  TorchCosts& costs_;
  TorchLayers layers_;
  std::map<std::uint32_t, Kind> domains_;
  std::unordered_map<std::uint64_t, std::uint32_t> path_ids_;
  std::unordered_map<StringId, OperationKind> operations_;
  std::unordered_map<std::int64_t, Forward> forward_;  // by sequence number
  std::vector<BackwardCall> backward_;
};

}  // namespace

std::string_view phase_name(TorchPhase phase) {
  switch (phase) {
    case TorchPhase::kNone:
      break;
    case TorchPhase::kForward:
      return "forward";
    case TorchPhase::kBackward:
      return "backward";
    case TorchPhase::kOptimizer:
      return "optimizer";
  }
  return "";
}

TorchLayers torch_layers(const Trace& trace, const Rank& rank, TorchCosts& costs) {
  return LayerFinder(trace, rank, costs).find();
}

}  // namespace swinscope
