#include "analyzer/analyses/step_work.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "analyzer/base/statistics.h"
#include "analyzer/trace/kernel_names.h"

namespace swinscope {
namespace {

void add_call(WorkTime& time, const WorkCall& call) {
  ++time.calls;
  time.exclusive_ns += call.exclusive_ns;
}

WorkRow row_of(const RunFacts& run, const WorkKey& key, const WorkCall& call) {
  const Rank& rank = run.trace.ranks[call.rank_index];
  WorkRow row;
  row.key = key;
  row.short_name = event_name(run.trace, rank, call.event);
  row.gpu_class = rank.gpu.gpu_class[call.event];
  row.operation = rank.gpu.operation[call.event];
  return row;
}

// By key and step, so that a row's time in a step of a rank is known when the next one begins.
std::vector<WorkRow> rows_of(const RunFacts& run) {
  const WorkCalls work(run);
  std::vector<WorkCall> calls = work.calls();
  std::ranges::stable_sort(calls, {}, [](const WorkCall& c) { return std::tuple(c.key, c.rank_index, c.step); });
  std::vector<WorkRow> rows;
  for (std::size_t i = 0; i < calls.size();) {
    const WorkCall& first = calls[i];
    if (i == 0 || calls[i - 1].key != first.key) rows.push_back(row_of(run, work.keys()[first.key], first));
    WorkRow& row = rows.back();
    std::int64_t in_step = 0;
    const auto is_same = [&](const WorkCall& c) {
      return c.key == first.key && c.rank_index == first.rank_index && c.step == first.step;
    };
    for (; i < calls.size() && is_same(calls[i]); ++i) {
      in_step += calls[i].exclusive_ns;
      add_call(row.all, calls[i]);
      if (calls[i].is_beside) add_call(row.beside, calls[i]);
    }
    row.squared_ns2 += static_cast<double>(in_step) * static_cast<double>(in_step);
  }
  std::ranges::sort(rows, std::less<>(), &WorkRow::key);
  return rows;
}

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
  if (work.is_of_steps) work.single_ns = single_steps(run);
  work.rows = rows_of(run);
  work.has_layers = std::ranges::any_of(work.rows, [](const WorkRow& row) { return !row.key.path.empty(); });
  return work;
}

}  // namespace swinscope
