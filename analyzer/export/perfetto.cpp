#include "analyzer/export/perfetto.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include <fmt/format.h>

#include "analyzer/export/perfetto_rank.h"

namespace swinscope {
namespace perfetto {
namespace {

void write_series(Job& job, std::int64_t pid, std::int64_t offset_ns, const CounterSeries& series,
                  const std::function<bool(std::int64_t, std::int64_t)>& is_wanted) {
  const std::string name = json_quoted(series.name);
  const std::string unit = series.unit.empty() ? "value" : series.unit;
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    if (!std::isfinite(series.values[i]) || !is_wanted(series.edges_ns[i], series.edges_ns[i + 1])) continue;
    job.writer.begin('C', {pid, 0}, name);
    job.writer.time(series.edges_ns[i] + offset_ns);
    job.writer.argument_value(unit, series.values[i]);
    job.writer.end();
  }
}

// CPU time of a process below a recorder, as the share of one core between two samples.
void write_process_cpu(Job& job, std::int64_t pid, std::int64_t offset_ns, const Launcher& launcher) {
  const auto& samples = launcher.process_cpu;
  std::string name;
  for (std::size_t i = 1; i < samples.size(); ++i) {
    const ProcessCpuRecord& before = samples[i - 1];
    const ProcessCpuRecord& now = samples[i];
    if (before.global_pid != now.global_pid || now.timestamp_ns <= before.timestamp_ns) continue;
    const std::int64_t busy_ns = std::max<std::int64_t>(now.cpu_ns - before.cpu_ns, 0);
    const auto process = std::ranges::find(launcher.processes, now.global_pid, &ProcessRecord::global_pid);
    const std::string_view title =
        process == launcher.processes.end() ? "process" : job.source.trace().text(process->name);
    job.writer.begin('C', {pid, 0}, json_quoted(fmt::format("CPU of {} {}", title, pid_of(now.global_pid))));
    job.writer.time(before.timestamp_ns + offset_ns);
    job.writer.argument_value("% of one core", 100.0 * static_cast<double>(busy_ns) /
                                                   static_cast<double>(now.timestamp_ns - before.timestamp_ns));
    job.writer.end();
  }
}

void write_launcher(Job& job, std::size_t index) {
  const Launcher& launcher = job.source.trace().launchers[index];
  const std::int64_t pid = job.ids.next();
  const std::int64_t offset_ns = job.source.clock().launcher_offset_ns[index];
  job.writer.name("process_name", {pid, 0}, fmt::format("host {}", launcher.run.host));
  job.writer.sort_index("process_sort_index", {pid, 0}, static_cast<std::int64_t>(job.source.trace().ranks.size()));
  write_process_cpu(job, pid, offset_ns, launcher);
  for (const SourceCounters& counters : job.source.counters()) {
    if (!counters.is_launcher || counters.index != index) continue;
    for (const CounterSeries& series : counters.series)
      write_series(job, pid, offset_ns, series, [](std::int64_t, std::int64_t) { return true; });
  }
}

void write_rank(Job& job, std::size_t index) {
  const std::int64_t pid = write_rank_process(job, index);
  const auto is_wanted = [&](std::int64_t begin_ns, std::int64_t end_ns) {
    return job.source.has_period(index, begin_ns, end_ns);
  };
  for (const SourceCounters& counters : job.source.counters()) {
    if (counters.is_launcher || counters.index != index) continue;
    for (const CounterSeries& series : counters.series)
      write_series(job, pid, job.source.clock().rank_offset_ns[index], series, is_wanted);
  }
}

}  // namespace
}  // namespace perfetto

std::int64_t export_perfetto(const ExportSource& source, ExportOutput& output) {
  perfetto::Job job(source, output);
  job.writer.raw(fmt::format("{{\"displayTimeUnit\": \"ns\",\n\"baseTimeNanoseconds\": {},\n\"traceEvents\": [\n",
                             source.clock().base_utc_ns));
  for (std::size_t r = 0; r < source.trace().ranks.size(); ++r) {
    if (source.scope().has_rank(r)) perfetto::write_rank(job, r);
  }
  for (std::size_t l = 0; source.has_launchers() && l < source.trace().launchers.size(); ++l)
    perfetto::write_launcher(job, l);
  job.writer.raw("\n]}\n");
  job.writer.flush();
  return job.writer.events();
}

}  // namespace swinscope
