#include "analyzer/analyses/step_work.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "analyzer/analyses/exclusive_time.h"
#include "analyzer/base/statistics.h"

namespace swinscope {
namespace {

// One event's share of a row.
struct Call {
  std::size_t row = 0;
  std::int64_t step = 0;
  std::int64_t exclusive_ns = 0;
  bool is_beside = false;
};

std::string shape_of(const Rank& rank, EventIndex e) {
  if (rank.gpu.kind[e] != GpuKind::kKernel) return rank.gpu.bytes[e] > 0 ? fmt::format("{} B", rank.gpu.bytes[e]) : "";
  const LaunchConfig& config = rank.configs[rank.gpu.config[e]];
  const auto text = [](const Dim3& d) { return fmt::format("{}x{}x{}", d.x, d.y, d.z); };
  return fmt::format("{} of {}", text(config.grid), text(config.block));
}

class WorkCounter {
 public:
  explicit WorkCounter(const RunFacts& run) : run_(run) {}

  void add(const DeviceScope& device) {
    const Rank& rank = run_.trace.ranks[device.rank_index];
    const std::vector<std::int64_t> exclusive = exclusive_ns(rank, device);
    const IntervalSet communication = communication_of(rank, device);
    IntervalCover beside(communication);
    std::vector<Call> calls;
    for (std::size_t i = 0; i < device.events.size(); ++i) {
      const EventIndex e = device.events[i];
      const Interval interval{rank.gpu.start_ns[e], rank.gpu.end_ns[e]};
      if (rank.gpu.gpu_class[e] == GpuClass::kCommunication) continue;
      calls.push_back({row_of(device.rank_index, e), step_of(rank, run_.scope.steps()[device.rank_index], e),
                       exclusive[i], beside.of(interval) > 0});
    }
    add_calls(std::move(calls));
  }

  std::vector<WorkRow> rows() && {
    std::ranges::sort(rows_, {}, &WorkRow::key);
    return std::move(rows_);
  }

 private:
  static IntervalSet communication_of(const Rank& rank, const DeviceScope& device) {
    std::vector<Interval> intervals;
    for (const EventIndex e : device.events) {
      if (rank.gpu.gpu_class[e] == GpuClass::kCommunication)
        intervals.push_back({rank.gpu.start_ns[e], rank.gpu.end_ns[e]});
    }
    return unite(std::move(intervals));
  }

  // By row and step, so that a row's time in a step is known when the next one begins.
  void add_calls(std::vector<Call> calls) {
    std::ranges::stable_sort(calls, {}, [](const Call& call) { return std::pair(call.row, call.step); });
    for (std::size_t i = 0; i < calls.size();) {
      WorkRow& row = rows_[calls[i].row];
      std::int64_t in_step = 0;
      const auto [number, step] = std::pair(calls[i].row, calls[i].step);
      for (; i < calls.size() && calls[i].row == number && calls[i].step == step; ++i) {
        in_step += calls[i].exclusive_ns;
        add_call(row.all, calls[i]);
        if (calls[i].is_beside) add_call(row.beside, calls[i]);
      }
      row.squared_ns2 += static_cast<double>(in_step) * static_cast<double>(in_step);
    }
  }

  static void add_call(WorkTime& time, const Call& call) {
    ++time.calls;
    time.exclusive_ns += call.exclusive_ns;
  }

  std::size_t row_of(std::size_t rank_index, EventIndex e) {
    const Rank& rank = run_.trace.ranks[rank_index];
    const OperationId operation = run_.operations()[rank_index].of_event(e);
    const std::int64_t shape =
        rank.gpu.kind[e] == GpuKind::kKernel ? std::int64_t{rank.gpu.config[e]} : rank.gpu.bytes[e];
    const auto [known, is_new] =
        by_ids_.try_emplace({rank_index, layer_of(rank_index, operation), rank.gpu.name[e], shape}, 0);
    if (is_new) known->second = row_with(key_of(rank_index, operation, e), rank, e);
    return known->second;
  }

  // Operations of one path and phase have one number.
  std::size_t layer_of(std::size_t rank_index, OperationId operation) {
    if (operation == kNoOperation) return 0;
    const Operation& of = run_.operations()[rank_index].all()[operation];
    return layers_.try_emplace({of.path, of.phase}, layers_.size() + 1).first->second;
  }

  WorkKey key_of(std::size_t rank_index, OperationId operation, EventIndex e) const {
    const Rank& rank = run_.trace.ranks[rank_index];
    WorkKey key;
    if (operation != kNoOperation) {
      const Operation& of = run_.operations()[rank_index].all()[operation];
      key.path = of.path;
      key.phase = of.phase;
    }
    key.name = run_.trace.text(rank.gpu.name[e]);
    key.shape = shape_of(rank, e);
    return key;
  }

  std::size_t row_with(WorkKey key, const Rank& rank, EventIndex e) {
    const auto [known, is_new] = by_key_.try_emplace(std::move(key), rows_.size());
    if (is_new) {
      WorkRow& row = rows_.emplace_back();
      row.key = known->first;
      row.short_name = run_.trace.text(rank.gpu.short_name[e]);
      row.gpu_class = rank.gpu.gpu_class[e];
      row.operation = rank.gpu.operation[e];
    }
    return known->second;
  }

  using Ids = std::tuple<std::size_t, std::size_t, StringId, std::int64_t>;  // rank, layer, name, shape

  const RunFacts& run_;
  std::vector<WorkRow> rows_;
  std::map<WorkKey, std::size_t> by_key_;
  std::map<Ids, std::size_t> by_ids_;
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> layers_;
};

// From the end of the last event of a step to that of the next one; where there are no three steps, of the first one
// from the window's begin.
std::vector<std::int64_t> steps_of_device(const RunFacts& run, const DeviceScope& device) {
  const Rank& rank = run.trace.ranks[device.rank_index];
  std::map<int, std::int64_t> end_of_step;
  for (const EventIndex e : device.events) {
    const int step = step_of(rank, run.scope.steps()[device.rank_index], e);
    if (step < 0 || !run.scope.has_gpu_event(device.rank_index, e)) continue;
    end_of_step[step] = std::max(end_of_step[step], rank.gpu.end_ns[e]);
  }
  std::vector<std::int64_t> lengths;
  std::int64_t before = device.window.begin_ns;
  for (const auto& [step, end] : end_of_step) {
    lengths.push_back(std::max<std::int64_t>(0, end - before));
    before = std::max(before, end);
  }
  if (lengths.size() > 2) lengths.erase(lengths.begin());
  return lengths;
}

// A host that runs ahead has steps of any length, a device whose host waits for it a first step of another. So what
// cuts the window more evenly is believed.
std::vector<std::int64_t> single_steps(const RunFacts& run) {
  std::vector<std::int64_t> of_hosts;
  std::vector<std::int64_t> of_devices;
  for (std::size_t r = 0; r < run.trace.ranks.size(); ++r) {
    if (!run.scope.has_rank(r)) continue;
    for (const Interval& step : run.scope.steps()[r].measured())
      of_hosts.push_back(step.length());
  }
  for (const DeviceScope& device : run.scope.devices())
    std::ranges::move(steps_of_device(run, device), std::back_inserter(of_devices));
  if (of_devices.size() < 2) return of_hosts;
  return of_hosts.size() < 2 || variance(of_devices) < variance(of_hosts) ? of_devices : of_hosts;
}

void add_no_work(const DeviceBreakdown& device, StepWork& work) {
  const auto add = [&](NoWork kind, std::int64_t ns) { work.no_work_ns[static_cast<std::size_t>(kind)] += ns; };
  const std::int64_t told_apart = device.exposed_wait_ns + device.exposed_wire_ns;
  add(NoWork::kWire, device.exposed_wire_ns);
  add(NoWork::kWait, device.exposed_wait_ns);
  add(told_apart > 0 ? NoWork::kWait : NoWork::kCommunication, device.idle.communication_ns);
  add(NoWork::kCommunication, device.exposed_communication_ns - told_apart);
  add(NoWork::kHost, device.idle.host_ns + device.idle.synchronization_ns);
  add(NoWork::kInput, device.idle.input_ns);
  add(NoWork::kGaps, device.idle.dependency_ns);
  add(NoWork::kUnexplained, device.idle.other_ns);
}

}  // namespace

StepWork step_work(const RunFacts& run) {
  StepWork work;
  work.is_of_steps = run.scope.is_of_steps();
  for (const DeviceBreakdown& device : run.devices()) {
    const std::int64_t steps = work.is_of_steps ? device.steps : 1;
    const std::int64_t useful_ns = device.compute_ns + device.unknown_ns;
    work.device_steps += steps;
    work.window_ns += device.window_ns;
    work.devices.push_back({useful_ns, useful_ns + device.exposed_communication_ns, device.window_ns, steps});
    add_no_work(device, work);
  }
  work.step_ns = work.is_of_steps         ? run.scope.step_ns()
                 : work.device_steps == 0 ? 0
                                          : work.window_ns / work.device_steps;
  WorkCounter counter(run);
  for (const DeviceScope& device : run.scope.devices())
    counter.add(device);
  if (work.is_of_steps) work.single_ns = single_steps(run);
  work.rows = std::move(counter).rows();
  work.has_layers = std::ranges::any_of(work.rows, [](const WorkRow& row) { return !row.key.path.empty(); });
  return work;
}

}  // namespace swinscope
