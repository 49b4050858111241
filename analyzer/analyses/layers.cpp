#include "analyzer/analyses/layers.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "analyzer/analyses/run_facts.h"
#include "analyzer/base/intervals.h"
#include "analyzer/facts/operations.h"
#include "analyzer/table/cells.h"

namespace swinscope {
namespace {

std::string first_components(std::string_view path, int depth) {
  std::size_t end = 0;
  for (int i = 0; i < depth && end != std::string_view::npos; ++i)
    end = path.find('.', i == 0 ? 0 : end + 1);
  return std::string(depth == 0 ? path : path.substr(0, end));
}

// Collects the rows of one trace.
class LayerCollector {
 public:
  LayerCollector(const RunFacts& run, const LayerOptions& options)
      : trace_(run.trace), scope_(run.scope), options_(options) {}

  void add(std::size_t rank_index, const RankOperations& operations) {
    rank_index_ = rank_index;
    operations_ = &operations;
    const Rank& rank = trace_.ranks[rank_index];
    places_.clear();
    places_.reserve(operations.all().size());
    for (const Operation& operation : operations.all())
      add_operation(rank, operation);
    for (EventIndex i = 0; i < rank.gpu.size(); ++i) {
      const OperationId operation = operations.of_event(i);
      const bool has_layer = operation != kNoOperation;
      if (has_layer && scope_.has_gpu_event(rank_index, i)) add_work(rank, operation, i);
      if (!is_of_a_step(rank_index, i)) continue;
      const std::int64_t duration = rank.gpu.end_ns[i] - rank.gpu.start_ns[i];
      coverage_.step_gpu_ns += duration;
      if (has_layer) coverage_.layer_gpu_ns += duration;
    }
    if (is_wanted_) collect_calls(rank);
  }

  // Also the calls of the rows for which this holds.
  void want_calls(std::function<bool(const LayerRow&)> is_wanted) { is_wanted_ = std::move(is_wanted); }
  std::vector<LayerCall> calls() { return std::move(calls_); }

  const LayerCoverage& coverage() const { return coverage_; }

  std::vector<LayerRow> finish() {
    for (std::size_t i = 0; i < rows_.size(); ++i)
      rows_[i].host = summarize(std::move(durations_[i]));
    std::erase_if(rows_, [](const LayerRow& row) { return row.host.count == 0 && row.gpu_events == 0; });
    return std::move(rows_);
  }

 private:
  // What one run of an operation did on the GPU.
  struct GpuWork {
    EventIndex first = kNoEvent;
    std::int64_t total_ns = 0;
  };
  // Of an operation of the rank at hand.
  struct Place {
    std::size_t row = 0;
    bool counts = false;  // the range itself is in the scope
    GpuWork work = {};
    // Captured into a CUDA graph: its work is done at each replay, and was not done when the range ran.
    std::map<std::uint32_t, GpuWork> replays = {};  // by correlation
  };

  static void count_calls(LayerRow& row, const OperationPayload& what, std::int64_t times) {
    row.calls += times;
    row.flops += times * what.flops;
    row.bytes_read += times * what.bytes_read;
    row.bytes_written += times * what.bytes_written;
  }

  void add_operation(const Rank& rank, const Operation& operation) {
    const std::size_t row = row_of(operation);
    // An operation around it stands in the same row: its time is there already.
    OperationId outer = operation.outer;
    while (outer != kNoOperation && places_[outer].row != row)
      outer = operations_->all()[outer].outer;
    const bool counts = outer == kNoOperation && rank.is_within_windows(operation.start_ns, operation.end_ns) &&
                        scope_.has_host_time(rank_index_, operation.start_ns);
    if (counts) {
      durations_[row].push_back(operation.end_ns - operation.start_ns);
      count_calls(rows_[row], *operation.what, 1);
    }
    places_.push_back({row, counts});
  }

  // Of what runs between steps (a checkpoint, a validation) nothing is a layer's.
  bool is_of_a_step(std::size_t rank_index, EventIndex i) const {
    return scope_.has_gpu_event(rank_index, i) &&
           (!scope_.is_of_steps() || step_of(trace_.ranks[rank_index], scope_.steps()[rank_index], i) >= 0);
  }

  std::size_t row_of(const Operation& operation) {
    const OperationPayload& what = *operation.what;
    const std::string path = first_components(operation.path, options_.depth);
    const std::string phase(options_.by_phase ? operation.phase : std::string_view());
    const std::string dims(operation.dims);
    const auto [entry, is_new] = index_.try_emplace({path, phase, options_.by_dims ? dims : ""}, rows_.size());
    if (is_new) {
      LayerRow row;
      row.path = path;
      row.phase = phase;
      row.operation = what.operation;
      row.precision = what.precision;
      row.input_dims = dims;
      row.has_cost = what.has_cost;
      rows_.push_back(std::move(row));
      durations_.emplace_back();
    }
    LayerRow& row = rows_[entry->second];
    row.has_cost &= what.has_cost;
    if (row.operation != what.operation) row.operation = "mixed";
    if (row.precision != what.precision) row.precision = "mixed";
    if (row.input_dims != dims) row.input_dims = "mixed";
    return entry->second;
  }

  void add_work(const Rank& rank, OperationId operation, EventIndex i) {
    Place& place = places_[operation];
    const std::int64_t duration = rank.gpu.end_ns[i] - rank.gpu.start_ns[i];
    rows_[place.row].gpu_ns += duration;
    ++rows_[place.row].gpu_events;
    GpuWork& work = operations_->is_replay(i) ? replay_of(operation, rank.gpu.correlation[i]) : place.work;
    if (work.first == kNoEvent || rank.gpu.start_ns[i] < rank.gpu.start_ns[work.first]) work.first = i;
    work.total_ns += duration;
  }

  GpuWork& replay_of(OperationId operation, std::uint32_t correlation) {
    Place& place = places_[operation];
    const bool takes_its_place = place.replays.empty() && place.counts;  // of the capture
    const auto [entry, is_new] = place.replays.try_emplace(correlation);
    if (is_new) count_calls(rows_[place.row], *operations_->all()[operation].what, takes_its_place ? 0 : 1);
    return entry->second;
  }

  void collect_calls(const Rank& rank) {
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
    for (OperationId id = 0; id < places_.size(); ++id) {
      const Place& place = places_[id];
      const Operation& operation = operations_->all()[id];
      if (!is_wanted_(rows_[place.row])) continue;
      if (place.replays.empty() && (place.counts || place.work.first != kNoEvent)) add_call(operation, place.work);
      for (const auto& [correlation, work] : place.replays)
        add_call(operation, work);
    }
    std::sort(calls_.begin() + static_cast<std::ptrdiff_t>(first), calls_.end(),
              [](const LayerCall& a, const LayerCall& b) {
                return std::tuple(a.start_ns, a.range) < std::tuple(b.start_ns, b.range);
              });
  }

  const Trace& trace_;
  const RunScope& scope_;
  LayerOptions options_;
  std::size_t rank_index_ = 0;  // of the rank at hand
  const RankOperations* operations_ = nullptr;
  std::vector<Place> places_;  // of its operations
  std::function<bool(const LayerRow&)> is_wanted_;
  std::vector<LayerCall> calls_;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> index_;  // by path, phase, shapes
  std::vector<LayerRow> rows_;
  std::vector<std::vector<std::int64_t>> durations_;
  LayerCoverage coverage_;
};

void collect(const RunFacts& run, LayerCollector& collector) {
  for (std::size_t r = 0; r < run.trace.ranks.size(); ++r) {
    if (run.scope.has_rank(r)) collector.add(r, run.operations()[r]);
  }
}

}  // namespace

std::vector<LayerRow> layer_table(const RunFacts& run, const LayerOptions& options) {
  LayerCollector collector(run, options);
  collect(run, collector);
  std::vector<LayerRow> rows = collector.finish();
  for (LayerRow& row : rows)
    row.steps = run.scope.step_count();
  return rows;
}

LayerCoverage layer_coverage(const RunFacts& run) {
  LayerCollector collector(run, {});
  collect(run, collector);
  return collector.coverage();
}

std::vector<LayerCall> layer_calls(const RunFacts& run, std::string_view path, std::string_view phase) {
  LayerCollector collector(run, {});
  collector.want_calls([&](const LayerRow& row) {
    const std::string_view begin = std::string_view(row.path).substr(0, path.size());
    const bool is_below = begin == path && (row.path.size() == path.size() || row.path[path.size()] == '.');
    return is_below && (phase.empty() || row.phase == phase);
  });
  collect(run, collector);
  return collector.calls();
}

Table layer_rows_table(const std::vector<LayerRow>& rows, const GpuPeaks& peaks) {
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
               {"tflop_per_s", "TFLOP/s", Unit::kNumber},
               {"gbyte_per_s", "GB/s", Unit::kNumber},
               {"peak_percent", "of peak", Unit::kPercent, true},
               {"bound_by", "bound by", Unit::kText, true},
               {"input_dims", "input dimensions", Unit::kText, !has_dims}},
              {}};
  for (const LayerRow& r : rows) {
    const auto per_ns = [&](std::int64_t amount, double unit) {  // per ns is giga per second
      return r.work_ns() == 0 || !r.has_cost
                 ? Cell()
                 : Cell(static_cast<double>(amount) / static_cast<double>(r.work_ns()) / unit);
    };
    const auto of_cost = [&](Cell cell) { return r.has_cost ? std::move(cell) : Cell(); };
    table.rows.push_back({r.path, r.phase, r.operation, r.precision, r.calls, r.host.total, r.host.median,
                          r.gpu_events == 0 ? Cell() : Cell(r.gpu_ns),
                          r.gpu_events == 0 || r.steps == 0 ? Cell() : Cell(r.gpu_ns / r.steps), r.gpu_events,
                          of_cost(static_cast<double>(r.flops) / 1e9), of_cost(r.bytes_read), of_cost(r.bytes_written),
                          per_ns(r.flops, 1e3), per_ns(r.bytes_read + r.bytes_written, 1), Cell(), Cell(),
                          r.input_dims});
    if (r.gpu_events == 0 || !r.has_cost) continue;
    const auto shares = peak_shares(peaks, r.precision, r.flops, r.bytes_read + r.bytes_written, r.gpu_ns);
    if (!shares) continue;
    std::vector<Cell>& row = table.rows.back();
    row[row.size() - 3] = 100 * shares->larger();
    row[row.size() - 2] = std::string(bound_name(*shares));
  }
  hide_empty(table, {"peak_percent", "bound_by"});
  return table;
}

}  // namespace swinscope
