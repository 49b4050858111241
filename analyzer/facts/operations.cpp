#include "analyzer/facts/operations.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzer/trace/graph_nodes.h"
#include "analyzer/trace/kernel_names.h"

namespace swinscope {
namespace {

// Of ranges in the default domain; collector/python/sitecustomize.py puts it there.
struct ModulePhase {
  std::string_view prefix;
  std::string_view phase;
};
constexpr std::array<ModulePhase, 2> kModulePhases = {{{"torch.nn:", "forward"}, {"torch.nn.backward:", "backward"}}};

bool is_phase(std::string_view name) {
  constexpr std::array<std::string_view, 5> kPhases = {"data", "forward", "backward", "allreduce", "optimizer"};
  return std::find(kPhases.begin(), kPhases.end(), name) != kPhases.end();
}

// What they cost is not known, but where the time goes.
OperationPayload without_cost(std::string_view operation) { return {std::string(operation), "", 0, 0, 0, false}; }

const OperationPayload& module_payload() {
  static const OperationPayload kModule = without_cost("module");
  return kModule;
}

const OperationPayload& torch_payload(OperationKind kind) {
  constexpr std::size_t kKinds = static_cast<std::size_t>(OperationKind::kUnknown) + 1;
  static const auto kPayloads = [] {
    std::array<OperationPayload, kKinds> payloads;
    for (std::size_t k = 0; k < kKinds; ++k)
      payloads.at(k) = without_cost(operation_name(OperationKind{static_cast<std::uint8_t>(k)}));
    return payloads;
  }();
  return kPayloads.at(static_cast<std::size_t>(kind));
}

// Of two products of one call: the cost of both, the shapes of the first.
OperationPayload sum_of(OperationPayload a, const OperationPayload& b) {
  a.flops += b.flops;
  a.bytes_read += b.bytes_read;
  a.bytes_written += b.bytes_written;
  a.has_cost &= b.has_cost;
  return a;
}

// The operations of one thread by their begins, so that the innermost one around an instant is found.
class ThreadOperations {
 public:
  void add(OperationId id, std::int64_t start_ns, std::int64_t end_ns) { entries_.push_back({start_ns, end_ns, id}); }

  void finish() {
    const auto outer_first = [](const Entry& entry) { return std::pair(entry.start_ns, -entry.end_ns); };
    if (!std::ranges::is_sorted(entries_, {}, outer_first)) std::ranges::stable_sort(entries_, {}, outer_first);
    std::int64_t until_ns = std::numeric_limits<std::int64_t>::min();
    for (Entry& entry : entries_)
      entry.until_ns = until_ns = std::max(until_ns, entry.end_ns);
  }

  // Ranges nest: walking back from the last that had begun, the first that has not ended is the innermost.
  OperationId innermost(std::int64_t when) const {
    auto entry = std::ranges::upper_bound(entries_, when, {}, &Entry::start_ns);
    while (entry != entries_.begin()) {
      --entry;
      if (when >= entry->until_ns) break;
      if (when < entry->end_ns) return entry->id;
    }
    return kNoOperation;
  }

 private:
  struct Entry {
    std::int64_t start_ns;
    std::int64_t end_ns;
    OperationId id;
    std::int64_t until_ns = 0;  // when it and all before it have ended
  };
  std::vector<Entry> entries_;
};

// The host's moment that tells an event's operation: the capture of its graph node, else its launch.
struct Cause {
  std::int64_t time_ns;
  std::uint64_t global_tid;
  bool is_capture;
};

std::optional<Cause> cause_of(const Rank& rank, EventIndex event) {
  if (rank.gpu.graph_node[event] != 0) {
    if (const auto origin = node_origin(rank.graph_nodes, rank.gpu.graph_node[event]))
      return Cause{origin->time_ns, origin->global_tid, true};
  }
  const EventIndex launch = rank.gpu.launch[event];
  if (launch == kNoEvent) return std::nullopt;
  return Cause{rank.api.start_ns[launch], rank.api_lanes[rank.api.lane[launch]].global_tid, false};
}

}  // namespace

RankOperations::RankOperations(const Trace& trace, const Rank& rank)
    : trace_(&trace), rank_(&rank), payloads_(trace), dims_(trace), torch_costs_(trace) {
  for (const RangeLane& lane : rank.range_lanes) {
    const std::string domain = rank.domain_name(lane.domain, trace.strings);
    if (domain == kDomainOwn) add_own(lane);
    if (domain.empty()) add_modules(lane);
  }
  if (all_.empty()) add_torch();
  if (!all_.empty()) join_events();
}

void RankOperations::add(EventIndex range, std::uint64_t global_tid, std::string_view path, std::string_view phase,
                         const OperationPayload& what) {
  all_.push_back({range, rank_->ranges.start_ns[range], rank_->ranges.end_ns[range], global_tid, path, phase, &what,
                  std::string_view(), kNoOperation});
}

void RankOperations::add_own(const RangeLane& lane) {
  const Ranges& ranges = rank_->ranges;
  std::string_view phase;
  std::int64_t phase_end_ns = 0;
  for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
    const std::string_view name = trace_->text(ranges.name[i]);
    const auto& payload = payloads_.operation(ranges.json[i]);
    if (payload) {
      add(i, lane.global_tid, name, ranges.start_ns[i] < phase_end_ns ? phase : std::string_view(), *payload);
    } else if (is_phase(name)) {
      phase = name;
      phase_end_ns = ranges.end_ns[i];
    }
  }
}

void RankOperations::add_modules(const RangeLane& lane) {
  for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
    const std::string_view name = trace_->text(rank_->ranges.name[i]);
    const auto* const found =
        std::ranges::find_if(kModulePhases, [&](const ModulePhase& module) { return name.starts_with(module.prefix); });
    if (found == kModulePhases.end()) continue;
    add(i, lane.global_tid, name.substr(found->prefix.size()), found->phase, module_payload());
  }
}

void RankOperations::add_torch() {
  torch_ = torch_layers(*trace_, *rank_, torch_costs_);
  are_torch_profile_ = !torch_.calls.empty();
  using What = const OperationPayload*;
  std::vector<What> products(torch_.calls.size(), nullptr);  // of each call, together
  std::map<std::pair<What, What>, What> sums;                // few are distinct
  for (const TorchLayers::Product& product : torch_.products) {
    What& of_call = products[product.call];
    What& sum = sums[{of_call, product.what}];
    if (sum == nullptr)
      sum = of_call == nullptr ? product.what : &torch_whats_.emplace_back(sum_of(*of_call, *product.what));
    of_call = sum;
  }
  std::map<std::tuple<OperationKind, What, std::string_view>, What> whats;
  all_.reserve(torch_.calls.size());
  for (std::uint32_t i = 0; i < torch_.calls.size(); ++i) {
    const TorchLayers::Call& call = torch_.calls[i];
    What& what = whats[{call.operation, products[i], call.precision}];
    if (what == nullptr) what = &torch_what(call, products[i]);
    add(call.range, call.global_tid, torch_.paths[call.path], phase_name(call.phase),
        call.is_module ? module_payload() : *what);
    all_.back().dims = dims_.of(rank_->ranges.json[call.range]);
    all_.back().outer = call.outer;  // each call is an operation, in the same order
  }
  torch_.calls = {};
}

const OperationPayload& RankOperations::torch_what(const TorchLayers::Call& call, const OperationPayload* products) {
  const OperationPayload& kind = torch_payload(call.operation);
  if (products == nullptr && call.precision.empty()) return kind;
  OperationPayload& what = torch_whats_.emplace_back(products == nullptr ? kind : *products);
  what.operation = kind.operation;
  if (products == nullptr) what.precision = call.precision;
  return what;
}

const OperationPayload* RankOperations::what_of_event(EventIndex gpu_event) const {
  if (!product_of_event_.empty() && product_of_event_[gpu_event] != nullptr) return product_of_event_[gpu_event];
  const OperationId id = of_event(gpu_event);
  return id == kNoOperation ? nullptr : all_[id].what;
}

void RankOperations::join_events() {
  static_assert(TorchLayers::kNone == kNoOperation);
  std::unordered_map<std::uint64_t, ThreadOperations> threads;
  for (OperationId id = 0; id < all_.size(); ++id)
    threads[all_[id].global_tid].add(id, all_[id].start_ns, all_[id].end_ns);
  std::unordered_map<std::uint64_t, ThreadOperations> products;
  for (std::uint32_t i = 0; i < torch_.products.size(); ++i) {
    const TorchLayers::Product& product = torch_.products[i];
    const Ranges& ranges = rank_->ranges;
    products[product.global_tid].add(i, ranges.start_ns[product.range], ranges.end_ns[product.range]);
  }
  if (!products.empty()) product_of_event_.assign(rank_->gpu.size(), nullptr);
  for (auto* by_thread : {&threads, &products})
    for (auto& [global_tid, operations] : *by_thread)
      operations.finish();
  of_event_.assign(rank_->gpu.size(), kNoOperation);
  is_replay_.assign(rank_->gpu.size(), false);
  for (EventIndex i = 0; i < rank_->gpu.size(); ++i) {
    const auto cause = cause_of(*rank_, i);
    if (!cause) continue;
    is_replay_[i] = cause->is_capture;
    if (const auto thread = threads.find(cause->global_tid); thread != threads.end())
      of_event_[i] = thread->second.innermost(cause->time_ns);
    const auto thread = products.find(cause->global_tid);
    const OperationId product = thread == products.end() ? kNoOperation : thread->second.innermost(cause->time_ns);
    if (product != kNoOperation) product_of_event_[i] = torch_.products[product].what;
  }
}

std::vector<RankOperations> find_operations(const Trace& trace) {
  std::vector<RankOperations> ranks;
  ranks.reserve(trace.ranks.size());
  for (const Rank& rank : trace.ranks)
    ranks.emplace_back(trace, rank);
  return ranks;
}

}  // namespace swinscope
