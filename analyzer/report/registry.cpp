#include "analyzer/report/registry.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "analyzer/analyses/clocks.h"
#include "analyzer/analyses/collectives_table.h"
#include "analyzer/analyses/cpu_utilization.h"
#include "analyzer/analyses/gpu_power.h"
#include "analyzer/analyses/host_waits.h"
#include "analyzer/analyses/idle_gaps_table.h"
#include "analyzer/analyses/late_ranks_table.h"
#include "analyzer/analyses/launch_statistics.h"
#include "analyzer/analyses/layer_folding.h"
#include "analyzer/analyses/layers.h"
#include "analyzer/analyses/memory.h"
#include "analyzer/analyses/ranges.h"
#include "analyzer/analyses/rank_summary.h"
#include "analyzer/analyses/recording.h"
#include "analyzer/analyses/roofline.h"
#include "analyzer/analyses/step_changes.h"
#include "analyzer/analyses/step_table.h"
#include "analyzer/analyses/thesis_utilization.h"

namespace swinscope {
namespace {

using Run = const RunFacts&;
using Options = const AnalysisOptions&;

Table top_kernels(Run run, Options options) {
  Table table = kernel_rows_table(run.trace, run.scope, run.kernels(), NameStyle::kShort);
  const std::size_t all = table.rows.size();
  if (options.top > 0) keep_top(table, options.top);
  if (options.top > 0) table.title = fmt::format("Top kernels ({} of {})", table.rows.size(), all);
  return table;
}

Table thesis_rows(Run run, Options) {
  return run.devices().empty() ? Table() : thesis_table(thesis_utilization(run.trace, run.scope));
}

Table ranges(Run run, Options) {
  return range_rows_table(run.trace, run.scope, range_table(run.trace, run.scope, {}).rows);
}

using enum AnalysisSection;
using enum AnalysisUse;

constexpr std::array kAnalyses = {
    Analysis{
        "steps", "Steps",
        "Step time of a rank = its device's window / its measured steps, the longest over its devices (of the host "
        "where there is none). Median, shortest and longest are durations of the ranges that mark these steps.",
        kRanks, kOverview, false, true, [](Run run, Options) { return step_table(run.trace, run.scope); }},
    Analysis{"step_times", "Distribution of the step times",
             "Quantiles of the durations of the ranges that mark a rank's measured steps: p5 is what 5 % of them stay "
             "below. Variation = standard deviation / mean, in percent.",
             kRanks, kDetail, true, false, [](Run run, Options) { return step_times_table(run.trace, run.scope); }},
    Analysis{
        "step_changes", "Changes of the step time",
        "Stretches of steps between changes of the median of a rank's step ranges by at least 1 %, by tests on the "
        "order "
        "of their durations that say a change of at most 1 % of steady ranks whose steps are independent. Own GPU work "
        "= time in which what a step launched, but communication, ran; median over the stretch.",
        kRanks, kDetail, true, false, [](Run run, Options) { return step_changes_table(run); }},
    Analysis{"rank_summary", "Ranks beside each other",
             "Times of a device in its window of the scope, per step where there are steps, and the share of the "
             "window in which it did anything, in percent. To median = compute / the median of that over all devices: "
             "a device above 1 makes the others wait.",
             kRanks, kDetail, true, false, [](Run run, Options) { return rank_summary_table(rank_summaries(run)); }},
    Analysis{"late_ranks", "Late ranks",
             "Delay of a rank = exposed wait of each of the others, on average and per step, at collectives to which "
             "it came last (percent: at how many of its own). Causes = what it did longer than the median of the "
             "others since they last went on together, and sum to the delay.",
             kRanks, kDetail, true, false, [](Run run, Options) { return late_ranks_table(run); }},
    Analysis{"collectives", "Collectives",
             "Wait of a rank = last start over the ranks - its start, transfer = its end - last start, spread = last "
             "start - first start; waits are means over ranks, per step. Algorithm bandwidth = bytes / median "
             "transfer, bus bandwidth = that x nccl-tests' factor, as 2 (p - 1) / p for an all-reduce of p ranks, in "
             "gigabytes per second.",
             kRanks, kDetail, true, false, [](Run run, Options) { return collectives_table(run); }},
    Analysis{"cpu_utilization", "CPU utilization",
             "CPU utilization = CPU time of the rank's process and of those below it / (time x cores allowed by "
             "affinity and "
             "cgroup), in percent, from the first measured step's start to the last one's end.",
             kRanks, kOverview, true, false,
             [](Run run, Options) { return cpu_utilization_table(cpu_utilization(run.trace, run.scope)); }},
    Analysis{
        "gpu_power", "Power and clocks",
        "Mean and extremes over the samples of a GPU within its window; energy in joules = mean power x window, per "
        "step = energy / steps. Throttled = share of the samples in which the driver gives a reason for lower clocks "
        "other than an idle GPU or clocks set on purpose, in percent.",
        kRanks, kSummary, true, false, [](Run run, Options) { return gpu_power_table(run); }},
    Analysis{"input_wait", "The host's wait for data",
             "Time of the measured steps in which the thread that marks them was in a range that waits for data: the "
             "union of these ranges, per step and in percent of the steps.",
             kTime, kSummary, true, false, [](Run run, Options) { return input_wait_table(run.host()); }},
    Analysis{"utilization", "Utilization",
             "GPU busy = time in which the device did anything / its window, GPU compute = likewise of all activity "
             "except communication, idle = window - busy. Shares are percent of the device's window.",
             kTime, kOverview, true, false, [](Run run, Options) { return utilization_table(run.devices()); }},
    Analysis{"thesis_utilization", "Shares of the compute time",
             "GPU share = sum of kernel time / (sum of kernel time + sum of CPU operation self time), CPU share = the "
             "rest, in percent, of the kernels and operations of the scope.",
             kTime, kAsked, true, false, &thesis_rows},
    Analysis{"bounds", "Where the time goes",
             "Each nanosecond of a device's window belongs to one part, the first that applies; a CPU run's steps are "
             "split by what the host did. Part = its time / steps, mean over devices, share = part / sum of all parts, "
             "in percent.",
             kTime, kOverview, true, false, [](Run run, Options) { return bound_table(run.verdict(), run.scope); }},
    Analysis{"breakdown", "Time breakdown",
             "Compute + unknown kernels + exposed communication + exposed copies + idle = the device's window, where "
             "exposed is what none of those before it hides. Overlap = communication beside kernels / communication, "
             "in percent.",
             kTime, kOverview, true, false, [](Run run, Options) { return breakdown_table(run.devices()); }},
    Analysis{"idle", "Idle, by cause",
             "Each gap of a device's window has one cause, judged by the event that ends it: its launch came late "
             "(host, synchronization, input), it was launched in time (communication, dependency), or its launch was "
             "not recorded (other). The causes sum to the idle time.",
             kTime, kOverview, true, false, [](Run run, Options) { return idle_table(run.devices()); }},
    Analysis{
        "host_waits", "Waits for the host",
        "All gaps whose cause is the host or a synchronization, divided by the call or range, open then and begun "
        "last, of the thread that launched what ends each gap. The rows sum to the idle time of both causes; names "
        "that only a number at their end tells apart are one (ProfilerStep#*), and so are those that an address does.",
        kTime, kDetail, true, false, [](Run run, Options) { return host_waits_table(run.host_waits(), run.scope); }},
    Analysis{"gaps", "Idle gaps",
             "The longest gaps of the devices' windows, each with the cause that the idle time by cause counts it "
             "under. What the host did = shares of the gap by the call or range, open then and begun last, of the "
             "thread that launched what ends the gap.",
             kTime, kReference, true, false,
             [](Run run, Options options) { return idle_gaps_table(run, options.top); }},
    Analysis{"launches", "Launches",
             "API time = duration of the launching call, queue time = kernel start - end of the call (0 where it began "
             "earlier), launch delay = kernel start - start of the call, whose sum is the total launch+queue time; of "
             "the kernels of the scope whose call was recorded. The queue grows by 1 at a launch and shrinks by 1 at a "
             "kernel's start.",
             kRanks, kOverview, true, true,
             [](Run run, Options) { return launch_table(launch_statistics(run.trace, run.scope)); }},
    Analysis{
        "queue", "Queues of the devices",
        "Kernels that were launched and have not started: the queue grows by 1 at the start of a launch and shrinks "
        "by 1 at a kernel's start, its mean is over time. Total launch+queue time = sum of kernel start - start of "
        "its launch, of the kernels of the scope whose launch was recorded; those of a CUDA graph are all launched "
        "with it.",
        kRanks, kDetail, true, false,
        [](Run run, Options) { return queue_table(device_launches(run.trace, run.scope)); }},
    Analysis{
        "memory", "Memory",
        "What a rank has of a device's memory: by PyTorch's allocator, or by what it asked CUDA for since recording "
        "began. Growth = median over the measured steps of the level at a step's end - that at the end of the step "
        "before.",
        kRanks, kSummary, true, false, [](Run run, Options) { return memory_table(run); }},
    Analysis{"memory_steps", "Memory by step", "Largest level within each measured step, and the level at its end.",
             kRanks, kReference, true, false, [](Run run, Options) { return memory_steps_table(run); }},
    Analysis{
        "kernels", "Kernels",
        "Durations of the kernels, copies and sets of the scope, added up by name or by what was asked for. Share of "
        "busy = total / time in which the devices did anything, in percent; per step = total / steps of all ranks; "
        "bytes "
        "and FLOPs of a kernel are those of the annotated operation that launched it alone; of peak = the larger of "
        "their rates' shares of what the GPU's vendor promises, in percent, where bound by says whose it is, or "
        "latency "
        "where both are below 25 %.",
        kWork, kSummary, true, true, &top_kernels},
    Analysis{"layer_groups", "Layers, equal ones together",
             "Layers whose paths differ in one number only (`*`: that of the innermost component with one which is not "
             "the last), of the same phase, operation, precision and FLOPs and bytes of a call: as one row, which has "
             "their sums and says how many they are. Figures as of the layers; the most time comes first.",
             kWork, kDetail, true, false, [](Run run, Options) { return folded_layers_table(run); }},
    Analysis{"layers", "Layers",
             "GPU time = summed durations of the GPU events of the scope by the innermost layer around their launch, "
             "host time = that of the layer's ranges. FLOPs (2 per multiply-add) and bytes (each operand once) are "
             "what the operations need, rates are over the GPU time, or the host's where there is none; of peak = the "
             "larger of their shares of what the GPU's vendor promises for the precision, in percent, where bound by "
             "says whose it is (memory, compute), or latency where both are below 25 %.",
             kWork, kDetail, true, false,
             [](Run run, Options) { return layer_rows_table(run.layers(), gpu_peaks(run.trace)); }},
    Analysis{"roofline", "Roofline",
             "Least time = the longer of FLOPs / the vendor's rate for the precision and bytes / the memory's "
             "bandwidth, whose is the roof; of roof = least time / GPU time, in percent; over roof = GPU time - least "
             "time. FLOPs and bytes are what the layer needs, each operand moved once; above 100 % the bytes came from "
             "a cache, or a figure is wrong.",
             kWork, kDetail, true, false, [](Run run, Options) { return roofline_table(run); }},
    Analysis{
        "roofs", "Roofs",
        "What the GPU can do at most by its vendor, its memory's bandwidth as the trace has it; from so many FLOPs "
        "for a byte on it is the precision's rate, and not the memory, that limits.",
        kWork, kReference, true, false, [](Run run, Options) { return roofs_table(run); }},
    Analysis{"ranges", "Ranges",
             "Calls and host time of the parts of ranges that lie in the scope, self = host - ranges directly within. "
             "GPU sum = summed durations of what was launched in the range, GPU span = sum over calls of last end - "
             "first start of that.",
             kWork, kReference, true, false, &ranges},
    Analysis{"threads", "CPU time by thread",
             "CPU time of each sampled thread from its start to its last sample, whatever the scope; the row (process) "
             "is that of all threads of the process.",
             kRanks, kReference, false, false,
             [](Run run, Options) { return thread_cpu_rows_table(thread_cpu_table(run.trace)); }},
    Analysis{"ranks", "Ranks",
             "Counts of the records of each process of the whole trace. Duration = last end - first start of all of "
             "them, tracing overhead = summed durations of the overhead that was recorded.",
             kRecording, kDetail, false, false, [](Run run, Options) { return recorded_ranks_table(run.trace); }},
    Analysis{
        "clocks", "Clocks of the ranks",
        "Time on the common clock = the rank's time + offset + drift x time since the middle of the collectives. 95 % "
        "of the ends that were compared differ by no more than the residual after it.",
        kRecording, kDetail, false, false, [](Run run, Options) { return clocks_table(run.trace, run.clocks()); }},
    Analysis{"health", "Health of the trace",
             "Findings about the whole trace that decide how far its figures can be believed: missing ranks, kernels "
             "without a launch and launches without a kernel, recorded windows, losses.",
             kRecording, kDetail, false, false, [](Run run, Options) { return health_table(run.trace); }},
    Analysis{"drops", "Lost or unread",
             "Records of the whole trace that were lost or could not be read: how many of each kind, and why.",
             kRecording, kDetail, false, false, [](Run run, Options) { return drop_table(run.trace); }},
    Analysis{"collector", "Recording",
             "Facts that the recorder says of itself and of the whole recording of each rank, under its own names.",
             kRecording, kReference, false, false, [](Run run, Options) { return collector_table(run.trace); }},
    Analysis{"environment", "Environment",
             "The machine and the settings of the job, of every rank and of the launcher, as they were read when "
             "recording began.",
             kRecording, kReference, false, false, [](Run run, Options) { return environment_table(run.trace); }}};

}  // namespace

std::span<const Analysis> analyses() { return kAnalyses; }

Table table_of(const Analysis& analysis, const RunFacts& run, const AnalysisOptions& options) {
  Table table = analysis.run(run, options);
  table.definition = analysis.definition;
  if (analysis.is_of_scope) table.title += fmt::format(", {}", run.scope.title());
  return table;
}

Table defined(Table table) {
  const auto analysis = std::ranges::find(kAnalyses, table.key, &Analysis::key);
  if (analysis != kAnalyses.end()) table.definition = analysis->definition;
  return table;
}

bool is_worth_showing(const Analysis& analysis, const Table& table, const RunFacts& run) {
  return !table.rows.empty() || (analysis.is_shown_empty && (!analysis.is_of_scope || !run.devices().empty()));
}

std::string_view section_title(AnalysisSection section) {
  switch (section) {
    case AnalysisSection::kTime:
      return "Where the time goes";
    case AnalysisSection::kWork:
      return "Kernels and layers";
    case AnalysisSection::kRanks:
      return "Ranks";
    case AnalysisSection::kRecording:
      return "Recording";
  }
  return "";
}

}  // namespace swinscope
