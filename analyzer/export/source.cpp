#include "analyzer/export/source.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "analyzer/facts/clock_alignment.h"
#include "analyzer/importers/file_facts.h"
#include "analyzer/importers/trace_files.h"
#include "analyzer/timeline/timeline.h"
#include "store/error.h"

namespace swinscope {
namespace {

// Shortly before the first event, so that none is at zero, which importers take for "not known".
constexpr std::int64_t kBeforeFirstNs = 1'000'000;
// Viewers count in floating-point microseconds, which are exact to the nanosecond for days, not for the months since a
// machine was started.
constexpr std::int64_t kFarNs = 24LL * 3600 * 1'000'000'000;
// Ranks are moved by whole microseconds, so that tools which round to these (HTA) find in each what they find in it
// alone.
constexpr std::int64_t kUnitNs = 1'000;

std::int64_t first_time(const Rank& rank) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  const auto take = [&](const std::vector<std::int64_t>& times) {
    for (const std::int64_t time : times)
      first = std::min(first, time);
  };
  take(rank.gpu.start_ns);
  take(rank.api.start_ns);
  take(rank.ranges.start_ns);
  for (const auto& record : rank.marks)
    first = std::min(first, record.start_ns);
  for (const auto& record : rank.syncs)
    first = std::min(first, record.start_ns);
  for (const auto& record : rank.overheads)
    first = std::min(first, record.start_ns);
  return first;
}

}  // namespace

ExportSource::ExportSource(const Trace& trace, const Selection& selection, std::vector<SourceCounters> counters,
                           const std::atomic<bool>* cancel)
    : trace_(trace), scope_(trace, selection), counters_(std::move(counters)), cancel_(cancel) {
  set_clock();
  if (selection.device || selection.stream || !selection.name.empty()) mark_launches();
}

void ExportSource::set_clock() {
  std::vector<TimelineProcess> processes;
  const auto add = [&](const RunInfo& run) {
    TimelineProcess process;
    process.utc_epoch_ns = run.utc_epoch_ns;
    processes.push_back(std::move(process));
  };
  std::vector<std::int64_t> corrections_ns = ClockAlignment(trace_).offsets_ns();
  for (const Rank& rank : trace_.ranks)
    add(rank.run);
  for (const Launcher& launcher : trace_.launchers) {
    add(launcher.run);
    const auto of_host =
        std::ranges::find_if(trace_.ranks, [&](const Rank& rank) { return rank.run.host == launcher.run.host; });
    const auto rank_index = static_cast<std::size_t>(of_host - trace_.ranks.begin());
    corrections_ns.push_back(of_host == trace_.ranks.end() ? 0 : corrections_ns[rank_index]);
  }
  align_processes(processes, corrections_ns);
  for (std::size_t r = 0; r < trace_.ranks.size(); ++r)
    clock_.rank_utc_ns.push_back(processes[r].utc_epoch_ns == 0 ? 0 : processes[r].utc_epoch_ns + corrections_ns[r]);
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (std::size_t r = 0; r < trace_.ranks.size(); ++r) {
    const std::int64_t time = first_time(trace_.ranks[r]);
    if (time != std::numeric_limits<std::int64_t>::max()) first = std::min(first, time + processes[r].offset_ns);
  }
  const bool is_near = first > 0 && first < kFarNs;
  const bool has_events = first != std::numeric_limits<std::int64_t>::max();
  const std::int64_t shift = is_near || !has_events ? 0 : kBeforeFirstNs - first / kUnitNs * kUnitNs;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    auto& offsets = i < trace_.ranks.size() ? clock_.rank_offset_ns : clock_.launcher_offset_ns;
    offsets.push_back((processes[i].offset_ns + kUnitNs / 2) / kUnitNs * kUnitNs + shift);
  }
  if (processes.empty() || processes.front().utc_epoch_ns <= 0) return;
  const auto& offsets = trace_.ranks.empty() ? clock_.launcher_offset_ns : clock_.rank_offset_ns;
  clock_.base_utc_ns = processes.front().utc_epoch_ns + corrections_ns.front() - offsets.front();
}

void ExportSource::mark_launches() {
  launches_.resize(trace_.ranks.size());
  for (std::size_t r = 0; r < trace_.ranks.size(); ++r) {
    const Rank& rank = trace_.ranks[r];
    launches_[r].resize(rank.api.size());
    for (EventIndex i = 0; i < rank.gpu.size(); ++i) {
      if (rank.gpu.launch[i] != kNoEvent && has_gpu_event(r, i)) launches_[r][rank.gpu.launch[i]] = true;
    }
  }
}

bool ExportSource::has_call(std::size_t rank, EventIndex call) const {
  if (!launches_.empty()) return launches_[rank][call];
  return has_host_time(rank, trace_.ranks[rank].api.start_ns[call]);
}

bool ExportSource::has_period(std::size_t rank, std::int64_t begin_ns, std::int64_t end_ns) const {
  if (!scope_.has_rank(rank)) return false;
  const Interval window = scope_.host_window(rank);
  return !scope_.is_of_steps() || (begin_ns < window.end_ns && end_ns > window.begin_ns);
}

void ExportSource::check_cancelled() const {
  if (cancel_ != nullptr && cancel_->load(std::memory_order_relaxed))
    throw Error(ErrorKind::kInterrupted, "interrupted");
}

std::vector<SourceCounters> read_source_counters(const Trace& trace, const std::atomic<bool>* cancel) {
  std::vector<SourceCounters> all;
  for (const std::filesystem::path& file : trace_files(trace.path)) {
    if (!is_trace_database(file)) continue;
    SourceCounters counters;
    counters.series = read_counters(file, cancel);
    if (counters.series.empty()) continue;
    const FileFacts facts = read_file_facts(file);
    if (facts.launcher) {
      const auto found = std::ranges::find_if(
          trace.launchers, [&](const Launcher& launcher) { return launcher.run.host == facts.host; });
      if (found == trace.launchers.end()) continue;
      counters.is_launcher = true;
      counters.index = static_cast<std::size_t>(found - trace.launchers.begin());
    } else {
      const auto is_of_file = [&](const Rank& rank) {
        return rank.run.source_file == file.filename().string() ||
               (facts.pid != 0 && pid_of(rank.run.global_pid) == facts.pid && rank.run.host == facts.host);
      };
      const auto found = std::ranges::find_if(trace.ranks, is_of_file);
      if (found == trace.ranks.end() && trace.files > 1) continue;
      if (found != trace.ranks.end()) counters.index = static_cast<std::size_t>(found - trace.ranks.begin());
    }
    all.push_back(std::move(counters));
  }
  return all;
}

}  // namespace swinscope
