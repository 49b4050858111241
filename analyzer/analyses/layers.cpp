#include "analyzer/analyses/layers.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzer/analyses/torch_layers.h"
#include "analyzer/base/intervals.h"
#include "analyzer/table/cells.h"
#include "analyzer/trace/graph_nodes.h"
#include "analyzer/trace/kernel_names.h"
#include "analyzer/trace/own_payloads.h"

namespace swinscope {
namespace {

// Of ranges in the default domain; collector/python/sitecustomize.py puts it there.
struct ModulePhase {
  std::string_view prefix;
  const char* phase;
};
constexpr std::array<ModulePhase, 2> kModulePhases = {{{"torch.nn:", "forward"}, {"torch.nn.backward:", "backward"}}};
using Payload = OperationPayload;
// What they cost is not known, but where the time goes.
Payload without_cost(std::string_view operation) { return {std::string(operation), "", 0, 0, 0, false}; }

std::string first_components(std::string_view path, int depth) {
  std::size_t end = 0;
  for (int i = 0; i < depth && end != std::string_view::npos; ++i)
    end = path.find('.', i == 0 ? 0 : end + 1);
  return std::string(depth == 0 ? path : path.substr(0, end));
}

bool is_phase(std::string_view name) {
  constexpr std::array<std::string_view, 5> kPhases = {"data", "forward", "backward", "allreduce", "optimizer"};
  return std::find(kPhases.begin(), kPhases.end(), name) != kPhases.end();
}

// Collects the rows of one trace.
class LayerCollector {
 public:
  LayerCollector(const Trace& trace, const RunScope& scope, const LayerOptions& options)
      : trace_(trace), scope_(scope), options_(options), payloads_(trace) {
    for (std::size_t kind = 0; kind < torch_payloads_.size(); ++kind)
      torch_payloads_.at(kind) = without_cost(operation_name(OperationKind{static_cast<std::uint8_t>(kind)}));
  }

  void add(std::size_t rank_index) {
    rank_index_ = rank_index;
    const Rank& rank = trace_.ranks[rank_index];
    std::unordered_map<std::uint64_t, std::vector<Operation>> by_thread;
    for (const RangeLane& lane : rank.range_lanes) {
      const std::string domain = rank.domain_name(lane.domain, trace_.strings);
      if (domain == kDomainOwn) {
        add_lane(rank, lane, by_thread[lane.global_tid]);
      }
      if (domain.empty()) add_modules(rank, lane, by_thread[lane.global_tid]);
    }
    const bool is_annotated = std::ranges::any_of(by_thread, [](const auto& thread) { return !thread.second.empty(); });
    if (!is_annotated) add_torch(rank, by_thread);
    for (auto& [thread, operations] : by_thread)
      put_in_order(operations);
    for (EventIndex i = 0; i < rank.gpu.size(); ++i) {
      const bool has_layer = add_gpu_event(rank, by_thread, i);
      if (!is_of_a_step(rank_index, i)) continue;
      const std::int64_t duration = rank.gpu.end_ns[i] - rank.gpu.start_ns[i];
      coverage_.step_gpu_ns += duration;
      if (has_layer) coverage_.layer_gpu_ns += duration;
    }
    if (is_wanted_) collect_calls(rank, by_thread);
  }

  // Also the calls of the rows for which this holds.
  void want_calls(std::function<bool(const LayerRow&)> is_wanted) { is_wanted_ = std::move(is_wanted); }
  std::vector<LayerCall> calls() { return std::move(calls_); }

  const LayerCoverage& coverage() const { return coverage_; }

  std::vector<LayerRow> finish() {
    for (std::size_t i = 0; i < rows_.size(); ++i)
      rows_[i].host = summarize(std::move(durations_[i]));
    rows_.erase(std::remove_if(rows_.begin(), rows_.end(),
                               [](const LayerRow& row) { return row.host.count == 0 && row.gpu_events == 0; }),
                rows_.end());
    return std::move(rows_);
  }

 private:
  // What one run of an operation did on the GPU.
  struct GpuWork {
    EventIndex first = kNoEvent;
    std::int64_t total_ns = 0;
  };
  struct Operation {
    EventIndex range;
    std::int64_t start_ns;
    std::int64_t end_ns;
    std::size_t row;
    const Payload* payload;
    bool counts;                // the range itself is in the scope
    std::int64_t until_ns = 0;  // when it and all before it have ended
    GpuWork work = {};
    // Captured into a CUDA graph: its work is done at each replay, and was not done when the range ran.
    std::map<std::uint32_t, GpuWork> replays = {};  // by correlation
  };

  static void count_calls(LayerRow& row, const Payload& payload, std::int64_t times) {
    row.calls += times;
    row.flops += times * payload.flops;
    row.bytes_read += times * payload.bytes_read;
    row.bytes_written += times * payload.bytes_written;
  }

  void add_lane(const Rank& rank, const RangeLane& lane, std::vector<Operation>& operations) {
    std::string phase;
    std::int64_t phase_end = 0;
    for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
      const std::string_view name = trace_.text(rank.ranges.name[i]);
      const std::int64_t start = rank.ranges.start_ns[i];
      const auto& payload = payloads_.operation(rank.ranges.json[i]);
      if (!payload && is_phase(name)) {
        phase = name;
        phase_end = rank.ranges.end_ns[i];
      }
      if (!payload) continue;
      add_operation(rank, i, row_of(name, start < phase_end ? phase : std::string(), *payload), *payload, operations);
    }
  }

  static void put_in_order(std::vector<Operation>& operations) {
    const auto outer_first = [](const Operation& op) { return std::pair(op.start_ns, -op.end_ns); };
    if (!std::ranges::is_sorted(operations, {}, outer_first)) std::ranges::stable_sort(operations, {}, outer_first);
    std::int64_t until_ns = std::numeric_limits<std::int64_t>::min();
    for (Operation& operation : operations)
      operation.until_ns = until_ns = std::max(until_ns, operation.end_ns);
  }

  // `is_within`: an operation around it stands in the same row, so that its time is there already.
  void add_operation(const Rank& rank, EventIndex range, std::size_t row, const Payload& payload,
                     std::vector<Operation>& operations, bool is_within = false) {
    const std::int64_t start = rank.ranges.start_ns[range];
    const std::int64_t end = rank.ranges.end_ns[range];
    const bool counts = !is_within && rank.is_within_windows(start, end) && scope_.has_host_time(rank_index_, start);
    if (counts) {
      durations_[row].push_back(end - start);
      count_calls(rows_[row], payload, 1);
    }
    operations.push_back({range, start, end, row, &payload, counts});
  }

  // Of what runs between steps (a checkpoint, a validation) nothing is a layer's.
  bool is_of_a_step(std::size_t rank_index, EventIndex i) const {
    return scope_.has_gpu_event(rank_index, i) &&
           (!scope_.is_of_steps() || step_of(trace_.ranks[rank_index], scope_.steps()[rank_index], i) >= 0);
  }

  void add_torch(const Rank& rank, std::unordered_map<std::uint64_t, std::vector<Operation>>& by_thread) {
    const TorchLayers layers = torch_layers(trace_, rank);
    std::vector<std::size_t> row_of_call;
    row_of_call.reserve(layers.calls.size());
    for (const TorchLayers::Call& call : layers.calls) {
      const Payload& payload = call.is_module ? module_ : torch_payloads_.at(static_cast<std::size_t>(call.operation));
      const std::size_t row = row_of(layers.paths[call.path], std::string(phase_name(call.phase)), payload,
                                     dims_.of(rank.ranges.json[call.range]));
      std::uint32_t outer = call.outer;
      while (outer != TorchLayers::kNone && row_of_call[outer] != row)
        outer = layers.calls[outer].outer;
      row_of_call.push_back(row);
      add_operation(rank, call.range, row, payload, by_thread[call.global_tid], outer != TorchLayers::kNone);
    }
  }

  // What PyTorch's modules do.
  void add_modules(const Rank& rank, const RangeLane& lane, std::vector<Operation>& operations) {
    for (EventIndex i = lane.events.begin; i < lane.events.end; ++i) {
      const std::string_view name = trace_.text(rank.ranges.name[i]);
      const auto* const found = std::find_if(
          kModulePhases.begin(), kModulePhases.end(),
          [&](const ModulePhase& module) { return name.substr(0, module.prefix.size()) == module.prefix; });
      if (found == kModulePhases.end()) continue;
      add_operation(rank, i, row_of(name.substr(found->prefix.size()), found->phase, module_), module_, operations);
    }
  }

  std::size_t row_of(std::string_view name, const std::string& phase, const Payload& payload,
                     const std::string& dims = {}) {
    const std::string path = first_components(name, options_.depth);
    const std::string shown_phase = options_.by_phase ? phase : std::string();
    const auto [entry, is_new] =
        index_.try_emplace({path, shown_phase, options_.by_dims ? dims : std::string()}, rows_.size());
    if (is_new) {
      LayerRow row;
      row.path = path;
      row.phase = shown_phase;
      row.operation = payload.operation;
      row.precision = payload.precision;
      row.input_dims = dims;
      row.has_cost = payload.has_cost;
      rows_.push_back(std::move(row));
      durations_.emplace_back();
    }
    LayerRow& row = rows_[entry->second];
    if (row.operation != payload.operation) row.operation = "mixed";
    if (row.precision != payload.precision) row.precision = "mixed";
    if (row.input_dims != dims) row.input_dims = "mixed";
    return entry->second;
  }

  // The host's moment that tells an event's layer: the capture of its graph node, else its launch.
  struct Cause {
    std::int64_t time_ns;
    std::uint64_t global_tid;
    bool is_capture;
  };
  static std::optional<Cause> cause_of(const Rank& rank, EventIndex i) {
    if (rank.gpu.graph_node[i] != 0) {
      if (const auto origin = node_origin(rank.graph_nodes, rank.gpu.graph_node[i]))
        return Cause{origin->time_ns, origin->global_tid, true};
    }
    const EventIndex launch = rank.gpu.launch[i];
    if (launch == kNoEvent) return std::nullopt;
    return Cause{rank.api.start_ns[launch], rank.api_lanes[rank.api.lane[launch]].global_tid, false};
  }

  // Whether it belongs to a layer.
  bool add_gpu_event(const Rank& rank, std::unordered_map<std::uint64_t, std::vector<Operation>>& by_thread,
                     EventIndex i) {
    const auto caused = cause_of(rank, i);
    if (!caused) return false;
    const auto thread = by_thread.find(caused->global_tid);
    if (thread == by_thread.end()) return false;
    const std::int64_t when = caused->time_ns;
    auto& operations = thread->second;
    auto candidate = std::upper_bound(operations.begin(), operations.end(), when,
                                      [](std::int64_t t, const Operation& op) { return t < op.start_ns; });
    // Ranges nest: walking back from the last that had begun, the first that has not ended is the innermost.
    while (candidate != operations.begin()) {
      --candidate;
      if (when >= candidate->until_ns) break;
      if (when >= candidate->end_ns) continue;
      if (scope_.has_gpu_event(rank_index_, i)) add_work(rank, *candidate, i, caused->is_capture);
      return true;
    }
    return false;
  }

  void add_work(const Rank& rank, Operation& operation, EventIndex i, bool is_replay) {
    const std::int64_t duration = rank.gpu.end_ns[i] - rank.gpu.start_ns[i];
    rows_[operation.row].gpu_ns += duration;
    ++rows_[operation.row].gpu_events;
    GpuWork& work = is_replay ? replay_of(operation, rank.gpu.correlation[i]) : operation.work;
    if (work.first == kNoEvent || rank.gpu.start_ns[i] < rank.gpu.start_ns[work.first]) work.first = i;
    work.total_ns += duration;
  }

  GpuWork& replay_of(Operation& operation, std::uint32_t correlation) {
    const bool takes_its_place = operation.replays.empty() && operation.counts;  // of the capture
    const auto [entry, is_new] = operation.replays.try_emplace(correlation);
    if (is_new) count_calls(rows_[operation.row], *operation.payload, takes_its_place ? 0 : 1);
    return entry->second;
  }

  void collect_calls(const Rank& rank, const std::unordered_map<std::uint64_t, std::vector<Operation>>& by_thread) {
    const std::size_t first = calls_.size();
    const auto add_call = [&](const Operation& operation, const GpuWork& work) {
      LayerCall call{rank_index_, operation.range, work.first, operation.start_ns,
                     operation.end_ns - operation.start_ns};
      if (work.first != kNoEvent) {
        call.start_ns = rank.gpu.start_ns[work.first];
        call.work_ns = work.total_ns;
      }
      calls_.push_back(call);
    };
    for (const auto& [thread, operations] : by_thread) {
      for (const Operation& operation : operations) {
        if (!is_wanted_(rows_[operation.row])) continue;
        if (operation.replays.empty() && (operation.counts || operation.work.first != kNoEvent))
          add_call(operation, operation.work);
        for (const auto& [correlation, work] : operation.replays)
          add_call(operation, work);
      }
    }
    std::sort(calls_.begin() + static_cast<std::ptrdiff_t>(first), calls_.end(),
              [](const LayerCall& a, const LayerCall& b) {
                return std::tuple(a.start_ns, a.range) < std::tuple(b.start_ns, b.range);
              });
  }

  const Trace& trace_;
  const RunScope& scope_;
  LayerOptions options_;
  OperationPayloads payloads_;
  InputDims dims_{trace_};
  const Payload module_ = without_cost("module");
  std::array<Payload, static_cast<std::size_t>(OperationKind::kUnknown) + 1> torch_payloads_;
  std::size_t rank_index_ = 0;  // of the rank at hand
  std::function<bool(const LayerRow&)> is_wanted_;
  std::vector<LayerCall> calls_;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> index_;  // by path, phase, shapes
  std::vector<LayerRow> rows_;
  std::vector<std::vector<std::int64_t>> durations_;
  LayerCoverage coverage_;
};

void collect(const Trace& trace, const RunScope& scope, LayerCollector& collector) {
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    if (scope.has_rank(r)) collector.add(r);
  }
}

}  // namespace

std::vector<LayerRow> layer_table(const Trace& trace, const RunScope& scope, const LayerOptions& options) {
  LayerCollector collector(trace, scope, options);
  collect(trace, scope, collector);
  std::vector<LayerRow> rows = collector.finish();
  for (LayerRow& row : rows)
    row.steps = scope.step_count();
  return rows;
}

LayerCoverage layer_coverage(const Trace& trace, const RunScope& scope) {
  LayerCollector collector(trace, scope, {});
  collect(trace, scope, collector);
  return collector.coverage();
}

std::vector<LayerCall> layer_calls(const Trace& trace, std::string_view path, std::string_view phase,
                                   const RunScope& scope) {
  LayerCollector collector(trace, scope, {});
  collector.want_calls([&](const LayerRow& row) {
    const std::string_view begin = std::string_view(row.path).substr(0, path.size());
    const bool is_below = begin == path && (row.path.size() == path.size() || row.path[path.size()] == '.');
    return is_below && (phase.empty() || row.phase == phase);
  });
  collect(trace, scope, collector);
  return collector.calls();
}

Table layer_rows_table(const std::vector<LayerRow>& rows) {
  const bool has_dims = std::ranges::any_of(rows, [](const LayerRow& r) { return !r.input_dims.empty(); });
  Table table{"layers",
              "Layers",
              {{"path", "path"},
               {"phase", "phase"},
               {"operation", "operation"},
               {"precision", "precision", Unit::kText, true},
               {"calls", "calls", Unit::kCount},
               {"host_ns", "host", Unit::kDuration},
               {"host_median_ns", "host median", Unit::kDuration, true},
               {"gpu_ns", "GPU", Unit::kDuration},
               {"gpu_per_step_ns", "per step", Unit::kDuration},
               {"gpu_events", "GPU events", Unit::kCount, true},
               {"gflop", "GFLOP", Unit::kNumber},
               {"bytes_read", "read", Unit::kBytes},
               {"bytes_written", "written", Unit::kBytes},
               {"gflop_per_s", "GFLOP/s", Unit::kNumber},
               {"gbyte_per_s", "GB/s", Unit::kNumber},
               {"input_dims", "input dimensions", Unit::kText, !has_dims}},
              {}};
  for (const LayerRow& r : rows) {
    const auto rate = [&](std::int64_t amount) {
      // per ns is giga per second
      return r.work_ns() == 0 || !r.has_cost ? Cell()
                                             : Cell(static_cast<double>(amount) / static_cast<double>(r.work_ns()));
    };
    const auto of_cost = [&](Cell cell) { return r.has_cost ? std::move(cell) : Cell(); };
    table.rows.push_back({r.path, r.phase, r.operation, r.precision, r.calls, r.host.total, r.host.median,
                          r.gpu_events == 0 ? Cell() : Cell(r.gpu_ns),
                          r.gpu_events == 0 || r.steps == 0 ? Cell() : Cell(r.gpu_ns / r.steps), r.gpu_events,
                          of_cost(static_cast<double>(r.flops) / 1e9), of_cost(r.bytes_read), of_cost(r.bytes_written),
                          rate(r.flops), rate(r.bytes_read + r.bytes_written), r.input_dims});
  }
  return table;
}

}  // namespace swinscope
