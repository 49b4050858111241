#include "analyzer/verdict.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analyzer/kernel_table.h"
#include "analyzer/text.h"

namespace swinscope {
namespace {

std::size_t index(Bound bound) { return static_cast<std::size_t>(bound); }

void add_device(std::array<double, kBounds>& sums, const DeviceBreakdown& d) {
  const auto add = [&](Bound bound, std::int64_t ns) { sums[index(bound)] += static_cast<double>(ns); };
  add(Bound::kInput, d.idle.input_ns);
  add(Bound::kHost, d.idle.host_ns + d.idle.synchronization_ns);
  add(Bound::kCommunication, d.exposed_communication_ns + d.idle.communication_ns);
  add(Bound::kCompute, d.math_ns);
  add(Bound::kMemory, d.compute_ns - d.math_ns + d.exposed_memory_ns);
  add(Bound::kOther, d.idle.dependency_ns + d.idle.other_ns);
}

std::string_view explanation(Bound bound) {
  switch (bound) {
    case Bound::kInput:
      return "the device waits for the next batch";
    case Bound::kHost:
      return "the device waits for the host to launch work";
    case Bound::kCommunication:
      return "collectives run, or are waited for, with nothing computed meanwhile";
    case Bound::kCompute:
      return "matrix products, convolutions and attention";
    case Bound::kMemory:
      return "kernels and copies that move data rather than compute, judged by their names";
    case Bound::kOther:
      break;
  }
  return "idle between kernels that were launched in time";
}

// The largest kernel among those that make up the verdict.
std::string largest_kernel(const Trace& trace, const std::vector<RankSteps>& steps, bool in_steps, Bound bound) {
  if (bound != Bound::kCompute && bound != Bound::kMemory && bound != Bound::kCommunication) return {};
  KernelTableOptions options;
  if (in_steps) {
    options.accept = [&](std::size_t rank, EventIndex event) {
      return step_of(trace.ranks[rank], steps[rank], event) >= 0;
    };
  }
  for (const KernelRow& row : kernel_table(trace, options)) {
    const bool matches = bound == Bound::kCommunication ? row.gpu_class == GpuClass::kCommunication
                                                        : row.gpu_class != GpuClass::kCommunication && row.operation &&
                                                              is_math(*row.operation) == (bound == Bound::kCompute);
    if (!matches) continue;
    return fmt::format("; largest: {} with {} in {} call{}",
                       row.operation == OperationKind::kCopy ? row.name : readable_kernel_name(row.name),
                       format_duration(row.duration.total), row.duration.count, row.duration.count == 1 ? "" : "s");
  }
  return {};
}

std::string evidence(const Trace& trace, Bound bound) {
  switch (bound) {
    case Bound::kInput:
    case Bound::kHost:
    case Bound::kOther:
      return fmt::format("swinscope launches {}", trace.path);
    case Bound::kCommunication:
      return fmt::format("swinscope kernels {} --filter nccl", trace.path);
    case Bound::kCompute:
    case Bound::kMemory:
      break;
  }
  return fmt::format("swinscope kernels {} --by operation", trace.path);
}

std::string_view host_explanation(Bound bound) {
  if (bound == Bound::kInput) return "the host waits for the next batch";
  return bound == Bound::kCommunication ? "the host waits for other ranks" : "the host computes";
}

// Without a GPU: by what the steps of the host were spent on.
void judge_host(const Trace& trace, const std::vector<HostPhases>& host, Verdict& verdict) {
  if (const auto rank = std::ranges::find_if(trace.ranks, &Rank::missed_cuda); rank != trace.ranks.end()) {
    verdict.sentence =
        fmt::format("what bounds the time is not known: the program used CUDA, which was {}", rank->cuda_activity());
    verdict.evidence = fmt::format("swinscope info {}", trace.path);
    return;
  }
  std::array<double, kBounds> sums{};
  double total = 0;
  for (const HostPhases& rank : host) {
    sums[index(Bound::kInput)] += static_cast<double>(rank.input_ns);
    sums[index(Bound::kCommunication)] += static_cast<double>(rank.communication_ns);
    sums[index(Bound::kCompute)] += static_cast<double>(rank.work_ns());
    total += static_cast<double>(rank.step_ns);
  }
  if (total == 0) {
    verdict.sentence = "no GPU activity was recorded";
    verdict.evidence = fmt::format("swinscope info {}", trace.path);
    return;
  }
  verdict.is_judged = true;
  for (std::size_t i = 0; i < kBounds; ++i)
    verdict.share[i] = sums[i] / total;
  verdict.bound = Bound{static_cast<std::uint8_t>(std::max_element(sums.begin(), sums.end()) - sums.begin())};
  const double share = verdict.share[index(verdict.bound)];
  verdict.sentence = fmt::format("bound by {}: {} of {} per step ({:.1f} %), {}; no GPU activity was recorded",
                                 bound_name(verdict.bound),
                                 format_duration(std::llround(share * static_cast<double>(verdict.step_ns))),
                                 format_duration(verdict.step_ns), 100 * share, host_explanation(verdict.bound));
  verdict.evidence = fmt::format("swinscope layers {}", trace.path);
}

}  // namespace

std::string_view bound_name(Bound bound) {
  constexpr std::array<std::string_view, kBounds> kNames = {"input",   "host",   "communication",
                                                            "compute", "memory", "other"};
  return kNames[index(bound)];
}

Verdict judge(const Trace& trace, const std::vector<RankSteps>& steps, const std::vector<HostPhases>& host) {
  Verdict verdict;
  std::vector<DeviceBreakdown> devices = time_breakdown_of_steps(trace, steps);
  const bool in_steps = !devices.empty();
  verdict.step_ns = step_time_ns(steps, devices);
  if (!in_steps) devices = time_breakdown(trace);
  std::array<double, kBounds> sums{};
  double total = 0;
  for (const DeviceBreakdown& device : devices) {
    add_device(sums, device);
    total += static_cast<double>(device.total_ns());
  }
  verdict.has_gpu_work = total > 0;
  if (!verdict.has_gpu_work) {
    judge_host(trace, host, verdict);
    return verdict;
  }
  verdict.is_judged = true;
  for (std::size_t i = 0; i < kBounds; ++i)
    verdict.share[i] = sums[i] / total;
  verdict.bound = Bound{static_cast<std::uint8_t>(std::max_element(sums.begin(), sums.end() - 1) - sums.begin())};
  verdict.window_ns = static_cast<std::int64_t>(total / static_cast<double>(devices.size()));

  const double share = verdict.share[index(verdict.bound)];
  const std::int64_t whole = verdict.step_ns > 0 ? verdict.step_ns : verdict.window_ns;
  const auto part = static_cast<std::int64_t>(std::llround(share * static_cast<double>(whole)));
  verdict.sentence =
      fmt::format("bound by {}: {} of {} {} ({:.1f} %), {}{}", bound_name(verdict.bound), format_duration(part),
                  format_duration(whole), verdict.step_ns > 0 ? "per step" : "per device (no steps were found)",
                  100 * share, explanation(verdict.bound), largest_kernel(trace, steps, in_steps, verdict.bound));
  verdict.evidence = evidence(trace, verdict.bound);
  return verdict;
}

}  // namespace swinscope
