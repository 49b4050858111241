#include "analyzer/trace/classify.h"

#include <algorithm>
#include <array>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>

#include <nlohmann/json.hpp>

#include "analyzer/base/parallel.h"
#include "analyzer/trace/graph_nodes.h"
#include "analyzer/trace/kernel_names.h"
#include "analyzer/trace/kernel_operation.h"
#include "analyzer/trace/torch_operation.h"

namespace swinscope {
namespace {

using enum OperationKind;

// What a range says of the kernels that are launched in it: nothing where it has no say, kUnknown where it hides what
// the ranges around it say.
using RangeMeaning = std::optional<OperationKind>;

// Asks once for each distinct string.
template <typename Value>
class ByString {
 public:
  explicit ByString(std::size_t strings) : values_(strings) {}

  template <typename Ask>
  const Value& get(StringId id, Ask ask) {
    std::optional<Value>& value = values_[id];
    if (!value) value = ask();
    return *value;
  }

 private:
  std::vector<std::optional<Value>> values_;
};

// The operation that our own workloads write into their ranges' payload.
RangeMeaning annotated_operation(std::string_view json) {
  if (json.empty()) return std::nullopt;
  const nlohmann::json payload = nlohmann::json::parse(json, nullptr, false);
  if (!payload.is_object() || payload.value("$schema", "") != "swinscope.operation/1") return std::nullopt;
  const auto found = payload.find("class");
  const std::string name = found != payload.end() && found->is_string() ? found->get<std::string>() : "";
  constexpr std::array kKinds = {kGemm,   kAttention,   kConv,      kNorm,         kElementwise,
                                 kLayout, kSoftmaxLoss, kOptimizer, kCommunication};
  const auto* const kind = std::ranges::find_if(
      kKinds, [&](OperationKind k) { return operation_name(k) == name || (k == kSoftmaxLoss && name == "loss"); });
  return kind == kKinds.end() ? kUnknown : *kind;
}

// The events of one rank.
class RankClassifier {
 public:
  RankClassifier(const Trace& trace, Rank& rank)
      : trace_(trace),
        rank_(rank),
        fills_(trace.strings.size()),
        torch_meanings_(trace.strings.size()),
        own_meanings_(trace.strings.size()) {}

  void run() {
    for (const RangeLane& lane : rank_.range_lanes)
      find_callers(lane);
    join_by_graph_nodes_ = !rank_.graph_nodes.empty() && !own_lanes_.empty();
    if (torch_.empty() && optimizers_.empty() && own_.empty() && rank_.collectives.empty() && !join_by_graph_nodes_) {
      return;
    }
    for (EventIndex i = 0; i < rank_.gpu.size(); ++i) {
      if (rank_.gpu.kind[i] == GpuKind::kKernel) refine(i);
    }
  }

 private:
  void find_callers(const RangeLane& lane) {
    const std::string domain = rank_.domain_name(lane.domain, trace_.strings);
    if (domain == kDomainTorchOp) {
      sweep(lane, torch_, [&](EventIndex r) { return torch_meaning(rank_.ranges.name[r]); });
    } else if (domain.empty()) {  // emit_nvtx
      sweep(lane, torch_, [&](EventIndex r) {
        const StringId name = rank_.ranges.name[r];
        return trace_.text(name).starts_with("aten::") ? torch_meaning(name) : std::nullopt;
      });
    } else if (domain == kDomainTorchUser) {
      sweep(lane, optimizers_, [&](EventIndex r) {
        return trace_.text(rank_.ranges.name[r]).starts_with("Optimizer.step#") ? RangeMeaning(kOptimizer)
                                                                                : std::nullopt;
      });
    } else if (domain == kDomainOwn) {
      own_lanes_.push_back(&lane);
      sweep(lane, own_, [&](EventIndex r) { return own_meaning(r); });
    }
  }

  RangeMeaning torch_meaning(StringId name) {
    return torch_meanings_.get(name, [&] {
      // emit_nvtx makes each name another: "aten::mul, seq = 45328".
      const std::string_view text = trace_.text(name);
      const auto [entry, is_new] = torch_operations_.try_emplace(text.substr(0, text.find(',')), kUnknown);
      if (is_new) entry->second = torch_operation(text);
      return RangeMeaning(entry->second);
    });
  }

  RangeMeaning own_meaning(EventIndex range) {
    const StringId json = rank_.ranges.json[range];
    return own_meanings_.get(json, [&] { return annotated_operation(trace_.text(json)); });
  }

  // Writes what the innermost range with a say around each call of the lane's thread says. Ranges and calls of a lane
  // are in the order of their starts.
  template <typename Meaning>
  void sweep(const RangeLane& lane, std::vector<OperationKind>& of_call, Meaning meaning) {
    const auto thread = std::ranges::find(rank_.api_lanes, lane.global_tid, &ThreadLane::global_tid);
    if (thread == rank_.api_lanes.end()) return;
    std::vector<std::pair<std::int64_t, OperationKind>> open;  // end and meaning
    EventIndex range = lane.events.begin;
    for (EventIndex call = thread->events.begin; call < thread->events.end; ++call) {
      const std::int64_t now = rank_.api.start_ns[call];
      for (; range < lane.events.end && rank_.ranges.start_ns[range] <= now; ++range) {
        while (!open.empty() && open.back().first <= rank_.ranges.start_ns[range])
          open.pop_back();
        if (const RangeMeaning kind = meaning(range)) open.emplace_back(rank_.ranges.end_ns[range], *kind);
      }
      while (!open.empty() && open.back().first <= now)
        open.pop_back();
      if (open.empty()) continue;
      of_call.resize(rank_.api.size(), kUnknown);
      of_call[call] = open.back().second;
    }
  }

  static OperationKind at(const std::vector<OperationKind>& of_call, EventIndex call) {
    return call == kNoEvent || of_call.empty() ? kUnknown : of_call[call];
  }

  void refine(EventIndex i) {
    GpuEvents& gpu = rank_.gpu;
    // The range around the launch of a graph says nothing of the kernels in it.
    const EventIndex call = gpu.graph_node[i] == 0 ? gpu.launch[i] : kNoEvent;
    OperationKind kind = gpu.operation[i];
    if (is_collective(i)) {
      kind = kCommunication;
    } else {
      if (const OperationKind torch = at(torch_, call); torch != kUnknown) kind = join_operations(torch, named(i));
      if (kind == kUnknown || kind == kElementwise) kind = within_annotation(kind, i, call);
    }
    gpu.operation[i] = kind;
    gpu.gpu_class[i] = class_of(kind);
  }

  bool is_collective(EventIndex i) const {
    const std::pair key(rank_.gpu.correlation[i], rank_.gpu.graph_node[i]);
    return key.first != 0 && std::ranges::binary_search(rank_.collectives, key, {}, [](const CollectiveRecord& r) {
             return std::pair(r.correlation, r.graph_node);
           });
  }

  NamedOperation named(EventIndex i) {
    const StringId name = rank_.gpu.name[i];
    const OperationKind kind = rank_.gpu.operation[i];
    return {kind, kind == kElementwise && fills_.get(name, [&] { return is_fill_kernel(trace_.text(name)); })};
  }

  // What an optimizer does to each value is a part of it; our own annotation names what has no name.
  OperationKind within_annotation(OperationKind kind, EventIndex i, EventIndex call) {
    if (at(optimizers_, call) == kOptimizer) return kOptimizer;
    if (kind != kUnknown) return kind;
    if (call != kNoEvent || !join_by_graph_nodes_) return at(own_, call);
    const auto origin = node_origin(rank_.graph_nodes, rank_.gpu.graph_node[i]);
    return origin ? own_at(origin->global_tid, origin->time_ns) : kUnknown;
  }

  // Of the range that was open when a node of a graph was made.
  OperationKind own_at(std::uint64_t thread, std::int64_t time_ns) {
    for (const RangeLane* lane : own_lanes_) {
      if (lane->global_tid != thread) continue;
      const auto begin = rank_.ranges.start_ns.begin();
      const auto after = std::upper_bound(begin + lane->events.begin, begin + lane->events.end, time_ns);
      for (auto r = static_cast<EventIndex>(after - begin); r-- > lane->events.begin;) {
        const RangeMeaning kind = rank_.ranges.end_ns[r] > time_ns ? own_meaning(r) : std::nullopt;
        if (kind) return *kind;
        if (rank_.ranges.depth[r] == 0) break;
      }
    }
    return kUnknown;
  }

  const Trace& trace_;
  Rank& rank_;
  ByString<bool> fills_;
  ByString<RangeMeaning> torch_meanings_;  // by name
  ByString<RangeMeaning> own_meanings_;    // by payload
  std::unordered_map<std::string_view, OperationKind> torch_operations_;
  std::vector<OperationKind> torch_;       // by call; empty when no range says anything
  std::vector<OperationKind> optimizers_;  // likewise
  std::vector<OperationKind> own_;         // likewise
  std::vector<const RangeLane*> own_lanes_;
  bool join_by_graph_nodes_ = false;
};

// What the user says of a name.
struct Ruling {
  std::optional<GpuClass> gpu_class;
  std::optional<OperationKind> operation;
};

template <typename Rule>
auto first_match(const std::vector<Rule>& rules, const std::string& name) -> std::optional<decltype(Rule::kind)> {
  const auto found = std::ranges::find_if(rules, [&](const Rule& rule) { return rule.pattern.matches(name); });
  if (found == rules.end()) return std::nullopt;
  return found->kind;
}

// A class that contradicts the operation leaves it unknown, unless the user gave both.
void apply(const Ruling& ruling, GpuClass& gpu_class, OperationKind& operation) {
  if (ruling.operation && *ruling.operation != operation) {
    operation = *ruling.operation;
    gpu_class = class_of(operation);
  }
  if (!ruling.gpu_class || *ruling.gpu_class == gpu_class) return;
  gpu_class = *ruling.gpu_class;
  if (!ruling.operation) operation = gpu_class == GpuClass::kCommunication ? kCommunication : kUnknown;
}

void apply_rules(const Trace& trace, const ClassRules& rules, Rank& rank) {
  ByString<Ruling> rulings(trace.strings.size());
  GpuEvents& gpu = rank.gpu;
  for (EventIndex i = 0; i < gpu.size(); ++i) {
    const Ruling& ruling = rulings.get(gpu.name[i], [&] {
      const std::string text(trace.text(gpu.name[i]));
      return Ruling{first_match(rules.classes, text), first_match(rules.operations, text)};
    });
    apply(ruling, gpu.gpu_class[i], gpu.operation[i]);
  }
}

}  // namespace

namespace {

// A sum that copy engines carry is copies to and from the neighbours and one of the GPU's own part, on streams that do
// nothing else: on a stream where most copies go to other GPUs, those within the GPU are part of it.
void join_own_parts(Rank& rank) {
  GpuEvents& gpu = rank.gpu;
  for (const GpuLane& lane : rank.gpu_lanes) {
    std::int64_t others = 0;
    std::vector<EventIndex> own;
    for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
      const CopyEnds* ends = rank.ends_of(i);
      if (ends == nullptr) continue;
      if (ends->is_between_gpus()) {
        ++others;
      } else if (ends->kind == CopyKind::kDeviceToDevice) {
        own.push_back(i);
      }
    }
    if (others == 0 || others < static_cast<std::int64_t>(own.size())) continue;
    for (const EventIndex i : own)
      gpu.gpu_class[i] = GpuClass::kCommunication;
  }
}

}  // namespace

OperationKind join_operations(OperationKind launched_by, NamedOperation name) {
  if (launched_by == kUnknown) return name.kind;
  if (name.kind == kUnknown) return launched_by;
  if (name.kind == kCommunication || name.is_fill) return name.kind;
  const bool moves = name.kind == kLayout || name.kind == kCopy || name.kind == kSet;
  const bool helps_product = is_math(launched_by) && (name.kind == kReduce || name.kind == kElementwise);
  // Operations of other libraries contain products of their own: "te::layernorm_linear".
  const bool is_product = is_math(name.kind) && !is_math(launched_by);
  return moves || helps_product || is_product ? name.kind : launched_by;
}

void classify(Trace& trace, const ClassRules& rules) {
  const int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  parallel_for(trace.ranks.size(), threads, [&](std::size_t r) {
    RankClassifier(trace, trace.ranks[r]).run();
    join_own_parts(trace.ranks[r]);
    if (!rules.empty()) apply_rules(trace, rules, trace.ranks[r]);
  });
}

}  // namespace swinscope
