#include "analyzer/analyses/verdict.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "analyzer/base/text.h"
#include "analyzer/facts/trace_doubts.h"
#include "analyzer/trace/kernel_names.h"
#include "store/shell.h"

namespace swinscope {
namespace {

constexpr double kMuchWrong = 0.05;  // of the time, in events of impossible durations

std::size_t index(Bound bound) { return static_cast<std::size_t>(bound); }

// Largest first; of equal ones the first.
std::vector<Bound> by_size(const std::array<std::int64_t, kBounds>& totals) {
  std::vector<Bound> order;
  for (std::size_t i = 0; i < kBounds; ++i)
    order.push_back(Bound{static_cast<std::uint8_t>(i)});
  std::ranges::stable_sort(order, [&](Bound a, Bound b) { return totals[index(a)] > totals[index(b)]; });
  return order;
}

bool is_known(Bound bound) { return bound != Bound::kUnknown && bound != Bound::kOther; }

void add_device(std::array<std::int64_t, kBounds>& totals, const DeviceBreakdown& d) {
  const auto add = [&](Bound bound, std::int64_t ns) { totals[index(bound)] += ns; };
  const std::int64_t told_apart = d.exposed_wait_ns + d.exposed_wire_ns;
  add(Bound::kInput, d.idle.input_ns);
  add(Bound::kHost, d.idle.host_ns + d.idle.synchronization_ns);
  add(told_apart > 0 ? Bound::kWaiting : Bound::kCommunication, d.idle.communication_ns);
  add(Bound::kWaiting, d.exposed_wait_ns);
  add(Bound::kTransfer, d.exposed_wire_ns);
  add(Bound::kCommunication, d.exposed_communication_ns - told_apart);
  add(Bound::kHostCopies, d.exposed_host_copy_ns);
  add(Bound::kCompute, d.math_ns);
  add(Bound::kMemory, d.compute_ns - d.math_ns + d.exposed_memory_ns - d.exposed_host_copy_ns);
  add(Bound::kUnknown, d.unknown_ns);
  add(Bound::kOther, d.idle.dependency_ns + d.idle.other_ns);
}

// What takes the time, as the beginning of a sentence that a duration ends.
std::string_view subject(Bound bound) {
  switch (bound) {
    case Bound::kInput:
      return "the GPU waits for the next batch for";
    case Bound::kHost:
      return "the GPU waits for the host to launch work for";
    case Bound::kWaiting:
      return "collectives wait for slower ranks, with nothing computed meanwhile, for";
    case Bound::kTransfer:
      return "collectives transfer, with nothing computed meanwhile, for";
    case Bound::kCommunication:
      return "communication runs, or is waited for, with nothing computed meanwhile, for";
    case Bound::kHostCopies:
      return "copies between host and device take";
    case Bound::kCompute:
      return "matrix products, convolutions and attention take";
    case Bound::kMemory:
      return "kernels and copies that move data take";
    case Bound::kUnknown:
      return "kernels of unknown kind take";
    case Bound::kOther:
      break;
  }
  return "the GPU is idle for no recorded reason for";
}

bool makes_up(Bound bound, const KernelRow& row) {
  switch (bound) {
    case Bound::kCompute:
      return row.operation && (is_math(*row.operation) ||
                               (*row.operation == OperationKind::kUnknown && row.gpu_class == GpuClass::kCompute));
    case Bound::kMemory:
      return row.operation && !row.is_host_copy && !is_math(*row.operation) &&
             *row.operation != OperationKind::kUnknown && row.gpu_class != GpuClass::kUnknown &&
             row.gpu_class != GpuClass::kCommunication;
    case Bound::kHostCopies:
      return row.is_host_copy;
    case Bound::kWaiting:
    case Bound::kTransfer:
    case Bound::kCommunication:
      return row.gpu_class == GpuClass::kCommunication;
    case Bound::kUnknown:
      return row.gpu_class == GpuClass::kUnknown;
    default:
      return false;
  }
}

std::string shown_name(const KernelRow& row) {
  const bool is_kernel = row.operation != OperationKind::kCopy && row.operation != OperationKind::kSet &&
                         row.operation != OperationKind::kGraph;
  return is_kernel ? readable_kernel_name(row.name) : row.name;
}

// The largest kernel among those that make up the verdict: per step where there are any.
std::string largest_kernel(const std::vector<KernelRow>& kernels, Bound bound) {
  const auto row = std::ranges::find_if(kernels, [&](const KernelRow& r) { return makes_up(bound, r); });
  if (row == kernels.end()) return {};
  const std::int64_t calls = row->duration.count;
  const bool whole = row->steps > 0 && calls % row->steps == 0;
  const std::int64_t shown_calls = whole ? calls / row->steps : calls;
  return fmt::format(" Largest: {}, {}{} in {} call{}{}.", shown_name(*row),
                     format_duration(row->steps > 0 ? row->per_step_ns() : row->duration.total),
                     row->steps > 0 ? " per step" : "", format_count(shown_calls), shown_calls == 1 ? "" : "s",
                     row->steps > 0 && !whole ? " of all steps" : "");
}

std::string evidence_of(const Trace& trace, Bound bound) {
  switch (bound) {
    case Bound::kHost:
      return fmt::format("swinscope analyze {} --table host_waits", path_argument(trace.path));
    case Bound::kInput:
    case Bound::kOther:
      return fmt::format("swinscope launches {}", path_argument(trace.path));
    case Bound::kWaiting:
    case Bound::kTransfer:
    case Bound::kCommunication:
      return fmt::format("swinscope kernels {} --by class --by-rank", path_argument(trace.path));
    default:
      return fmt::format("swinscope kernels {} --by operation", path_argument(trace.path));
  }
}

// "1.000 ms of 10.00 ms per step (10.0 %)"
std::string amount(const Verdict& verdict, Bound bound, const std::string& per) {
  return fmt::format("{} of {} {} ({:.1f} %)", format_duration(verdict.part_ns[index(bound)]),
                     format_duration(verdict.whole_part_ns), per, 100 * verdict.share(bound));
}

std::string per_of(const RunScope& scope, std::size_t devices) {
  std::string per = scope.is_of_steps() ? fmt::format("per {}", scope.unit()) : "per device";
  if (scope.is_of_steps() && devices > 1) per += fmt::format(", mean of {} GPUs", devices);
  return per;
}

// The names of the largest kernels of unknown kind.
std::string unknown_names(const std::vector<KernelRow>& kernels) {
  std::string names;
  int listed = 0;
  for (const KernelRow& row : kernels) {
    if (!makes_up(Bound::kUnknown, row) || listed == 3) continue;
    names += fmt::format("{}{}", listed++ == 0 ? "" : ", ", shown_name(row));
  }
  return names;
}

// Why the largest known bound is no verdict; empty where it is one.
std::string why_not(const Verdict& verdict, Bound first, Bound second, const std::vector<KernelRow>& kernels) {
  const auto total = [&](Bound of) { return verdict.total_ns[index(of)]; };
  const std::int64_t unknown = total(Bound::kUnknown);
  const std::int64_t other = total(Bound::kOther);
  const bool leads = total(first) - total(second) > unknown;
  if (leads && total(first) > unknown + other) return {};
  if (unknown >= other && unknown > 0) {
    return fmt::format("{:.1f} % of the time is in kernels of unknown kind ({})", 100 * verdict.share(Bound::kUnknown),
                       unknown_names(kernels));
  }
  if (total(first) <= unknown + other) {
    return fmt::format("for {:.1f} % of the time the GPU is idle and the recording does not say why",
                       100 * verdict.share(Bound::kOther));
  }
  return fmt::format("{} and {} take the same time", bound_name(first), bound_name(second));
}

// What stands behind the verdict: the largest kernel of those that make it up, or what kept the host.
std::string main_reason(Bound bound, const std::vector<KernelRow>& kernels,
                        const std::function<const HostActivity&()>& host_activity) {
  if (bound != Bound::kHost) return largest_kernel(kernels, bound);
  const std::string shares = host_activity().shares();
  return shares.empty() ? "" : fmt::format(" Meanwhile the host was in: {}.", shares);
}

void conclude(const Trace& trace, const RunScope& scope, const std::vector<DeviceBreakdown>& devices,
              const std::vector<KernelRow>& kernels, const std::function<const HostActivity&()>& host_activity,
              Verdict& verdict) {
  std::vector<Bound> known;
  for (const Bound bound : by_size(verdict.total_ns)) {
    if (is_known(bound)) known.push_back(bound);
  }
  const Bound first = known[0];
  const Bound second = known[1];
  const std::string per = per_of(scope, devices.size());
  verdict.abstained = why_not(verdict, first, second, kernels);
  if (const std::int64_t wrong_ns = impossible_ns(trace, scope);
      static_cast<double>(wrong_ns) > kMuchWrong * static_cast<double>(verdict.whole_ns)) {
    verdict.abstained = fmt::format(
        "GPU events that hold others of their stream, which runs one after the other, last {}: durations are wrong",
        format_duration(wrong_ns));
  }
  verdict.evidence = evidence_of(trace, first);
  if (!verdict.abstained.empty()) {
    verdict.sentence = fmt::format("what bounds the time is not known: {}.", verdict.abstained);
    if (verdict.total_ns[index(first)] > 0)
      verdict.sentence +=
          fmt::format(" The largest known part is {}: {}.", bound_name(first), amount(verdict, first, per));
    return;
  }
  verdict.bound = first;
  const bool by_name = first == Bound::kCompute || first == Bound::kMemory;
  verdict.sentence =
      fmt::format("bound by {}: {} {}{}.{}", bound_name(first), subject(first), amount(verdict, first, per),
                  by_name ? ", judged by kernel name" : "", main_reason(first, kernels, host_activity));
  if (verdict.total_ns[index(second)] == 0) return;
  verdict.second = second;
  verdict.sentence += fmt::format(" Second: {}, {} ({:.1f} %).", bound_name(second),
                                  format_duration(verdict.part_ns[index(second)]), 100 * verdict.share(second));
}

void judge_devices(const Trace& trace, const RunScope& scope, const std::vector<DeviceBreakdown>& devices,
                   const std::vector<KernelRow>& kernels, const std::function<const HostActivity&()>& host_activity,
                   Verdict& verdict) {
  std::int64_t steps = 0;
  for (const DeviceBreakdown& device : devices) {
    add_device(verdict.total_ns, device);
    verdict.whole_ns += device.total_ns();
    steps += device.steps;
  }
  verdict.has_parts = verdict.whole_ns > 0;
  if (!verdict.has_parts) {
    verdict.abstained = "no time passes between the first and the last GPU event";
    verdict.sentence = fmt::format("what bounds the time is not known: {}", verdict.abstained);
    verdict.evidence = fmt::format("swinscope info {}", path_argument(trace.path));
    return;
  }
  const std::int64_t divisor = scope.is_of_steps() ? steps : static_cast<std::int64_t>(devices.size());
  verdict.part_ns = divide_exactly(verdict.total_ns, divisor);
  for (const std::int64_t part : verdict.part_ns)
    verdict.whole_part_ns += part;
  conclude(trace, scope, devices, kernels, host_activity, verdict);
}

// Without a GPU: by what the steps of the host were spent on.
void judge_host(const Trace& trace, const RunScope& scope, const std::vector<HostPhases>& host, Verdict& verdict) {
  verdict.evidence = fmt::format("swinscope info {}", path_argument(trace.path));
  verdict.abstained = why_no_gpu_activity(trace, scope);
  if (!verdict.abstained.empty()) {
    verdict.sentence = fmt::format("what bounds the time is not known: {}", verdict.abstained);
    return;
  }
  std::int64_t steps = 0;
  for (const HostPhases& rank : host) {
    verdict.total_ns[index(Bound::kInput)] += rank.input_ns;
    verdict.total_ns[index(Bound::kWaiting)] += rank.communication_ns;
    verdict.total_ns[index(Bound::kCompute)] += rank.work_ns();
    verdict.whole_ns += rank.step_ns;
    steps += rank.steps;
  }
  verdict.has_parts = verdict.whole_ns > 0;
  if (!verdict.has_parts) {
    verdict.abstained =
        trace.corrupt ? "no GPU activity is in what could be read of the input" : "no GPU activity was recorded";
    verdict.sentence = verdict.abstained;
    // What the host did stands there.
    if (std::ranges::any_of(trace.ranks, [](const Rank& rank) { return rank.ranges.size() > 0; }))
      verdict.evidence = fmt::format("swinscope ranges {}", path_argument(trace.path));
    return;
  }
  verdict.part_ns = divide_exactly(verdict.total_ns, steps);
  for (const std::int64_t part : verdict.part_ns)
    verdict.whole_part_ns += part;
  const std::vector<Bound> order = by_size(verdict.total_ns);
  verdict.bound = order[0];
  if (verdict.total_ns[index(order[1])] > 0) verdict.second = order[1];
  const auto part = [&](Bound of) {
    return fmt::format("{} ({:.1f} %)", format_duration(verdict.part_ns[index(of)]), 100 * verdict.share(of));
  };
  verdict.sentence = fmt::format(
      "bound by {}: CPU run: of {} per step the ranks compute {}, wait for other ranks {} and for the next batch {}; "
      "no "
      "GPU activity was recorded",
      bound_name(*verdict.bound), format_duration(verdict.whole_part_ns), part(Bound::kCompute), part(Bound::kWaiting),
      part(Bound::kInput));
  verdict.evidence = fmt::format("swinscope layers {}", path_argument(trace.path));
}

}  // namespace

std::string_view bound_name(Bound bound) {
  constexpr std::array<std::string_view, kBounds> kNames = {"input",
                                                            "host",
                                                            "waiting for other ranks",
                                                            "transfer of collectives",
                                                            "communication",
                                                            "copies between host and device",
                                                            "compute",
                                                            "memory",
                                                            "unknown",
                                                            "other"};
  return kNames[index(bound)];
}

double Verdict::share(Bound of) const {
  return whole_ns == 0 ? 0.0 : static_cast<double>(total_ns[index(of)]) / static_cast<double>(whole_ns);
}

std::string_view Verdict::confidence() const {
  constexpr double kClearLead = 0.1;
  if (!bound) return "";
  const bool is_clear = share(*bound) - (second ? share(*second) : 0) >= kClearLead;
  if (is_clear && doubts.empty()) return "high";
  return is_clear || doubts.empty() ? "medium" : "low";
}

Verdict judge(const Trace& trace, const RunScope& scope, const std::vector<DeviceBreakdown>& devices,
              const std::vector<KernelRow>& kernels, const std::vector<HostPhases>& host, const CollectiveWaits& waits,
              const std::function<const HostActivity&()>& host_activity) {
  Verdict verdict;
  verdict.has_gpu_work = !devices.empty();
  if (verdict.has_gpu_work) {
    judge_devices(trace, scope, devices, kernels, host_activity, verdict);
  } else {
    judge_host(trace, scope, host, verdict);
  }
  verdict.doubts = doubts_of(trace, scope);
  std::ranges::move(waits.doubts(), std::back_inserter(verdict.doubts));
  return verdict;
}

Table bound_table(const Verdict& verdict, const RunScope& scope) {
  const std::string per = scope.is_of_steps() ? fmt::format("per {}", scope.unit()) : "per device";
  Table table{
      "bounds",
      fmt::format("Where the time goes (sum {} {})", format_duration(verdict.whole_part_ns), per),
      {{"bound", "bound by"}, {"share_percent", "share", Unit::kPercent}, {"per_step_ns", per, Unit::kDuration}},
      {}};
  if (!verdict.has_parts) return table;
  for (std::size_t i = 0; i < kBounds; ++i) {
    const Bound bound{static_cast<std::uint8_t>(i)};
    table.rows.push_back({std::string(bound_name(bound)), 100 * verdict.share(bound), verdict.part_ns[i]});
  }
  return table;
}

}  // namespace swinscope
