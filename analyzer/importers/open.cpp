#include "analyzer/importers/open.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyzer/base/parallel.h"
#include "analyzer/base/text.h"
#include "analyzer/importers/counting_sink.h"
#include "analyzer/importers/job.h"
#include "analyzer/importers/kineto.h"
#include "analyzer/importers/trace_limits.h"
#include "analyzer/trace/classify.h"
#include "analyzer/trace/trace_builder.h"
#include "store/error.h"
#include "store/nsys_export.h"
#include "store/reader.h"
#include "store/shell.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

ImportReport report_of(const TraceFile& file) {
  return {file.description(), file.warnings(), file.damaged(), file.doubts()};
}

// One file on its way into the trace.
struct Reading {
  Reading(fs::path file, const OpenOptions& options)
      : path(std::move(file)),
        on_records([this, &options](std::uint64_t count) {
          if (options.on_records) options.on_records(count);
          options.memory.check(path.string());
        }),
        builder(std::make_unique<TraceBuilder>(options.cancel)) {}

  fs::path path;
  std::function<void(std::uint64_t)> on_records;
  std::unique_ptr<TraceBuilder> builder;
  ImportReport report;
  std::vector<FileProcess> processes;
  std::optional<Error> error;
  std::exception_ptr other;
};

using Readings = std::vector<std::unique_ptr<Reading>>;

void keep_processes(Reading& reading, std::vector<FileProcess> processes) {
  reading.processes = std::move(processes);
  for (FileProcess& process : reading.processes)
    process.file = reading.path;
}

// One of several readers of a file.
struct Part {
  Part(const Reading& reading, const OpenOptions& options)
      : file(reading.path, {options.cancel}),
        builder(std::make_unique<TraceBuilder>(options.cancel)),
        counting(*builder, reading.on_records) {}

  TraceFile file;
  std::unique_ptr<TraceBuilder> builder;
  CountingSink counting;
  ExportProcesses processes;
};

using Parts = std::vector<std::unique_ptr<Part>>;

ExportProcesses processes_of(const Parts& parts) {
  ExportProcesses all;
  for (const auto& part : parts) {
    for (const auto& [pid, device] : part->processes) {
      const auto entry = all.try_emplace(pid, device).first;
      entry->second = std::min(entry->second, device);
    }
  }
  return all;
}

// All of the file, each part on a thread.
void read_parts(const Parts& parts, ReadScope scope) {
  const auto count = static_cast<int>(parts.size());
  const auto for_each_part = [&](auto read) {
    parallel_for(parts.size(), count, [&](std::size_t i) { read(*parts[i], ReadPart{static_cast<int>(i), count}); });
  };
  TraceFile& first = parts.front()->file;
  const FileStrings strings = first.strings();
  for_each_part([](Part& part, ReadPart which) { part.processes = part.file.processes(which); });
  const ExportProcesses processes = processes_of(parts);
  for_each_part(
      [&](Part& part, ReadPart which) { part.file.read_rows(part.counting, scope, which, strings, processes); });
  for (std::size_t i = 1; i < parts.size(); ++i)
    first.take_over(parts[i]->file);
  first.read_rest();
}

void join(const Parts& parts, Reading& reading) {
  const auto& first = parts.front();
  std::vector<FileProcess> seen = first->counting.seen();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    first->builder->absorb(*parts[i]->builder);
    const std::vector<FileProcess> more = parts[i]->counting.seen();
    for (std::size_t p = 0; p < seen.size(); ++p)
      seen[p].add_events_of(more[p]);
  }
  reading.report = report_of(first->file);
  reading.builder = std::move(first->builder);
  keep_processes(reading, std::move(seen));
}

// Reads a file with several readers. False, with nothing read, where that cannot be done: the file is to be read as a
// whole, which says what is wrong with it.
bool read_in_parts(Reading& reading, const OpenOptions& options, ReadScope scope, std::size_t count) {
  try {
    Parts parts;
    for (std::size_t i = 0; i < count; ++i) {
      parts.push_back(std::make_unique<Part>(reading, options));
      if (!parts.back()->file.can_be_shared()) return false;
    }
    read_parts(parts, scope);
    if (std::ranges::any_of(parts, [](const auto& part) { return part->file.damaged(); })) return false;
    join(parts, reading);
    return true;
  } catch (const MemoryError&) {
    throw;
  } catch (const Error&) {
    return false;
  }
}

// `threads` may share the work.
void read_database(Reading& reading, const OpenOptions& options, std::size_t threads) {
  const ReadScope scope = options.spans_only ? ReadScope::kTimeline : ReadScope::kAnalysis;
  std::error_code none;
  const std::uintmax_t size = fs::file_size(reading.path, none);
  const std::size_t parts = none ? 1 : std::min<std::uintmax_t>(threads, size / options.bytes_per_thread);
  if (parts > 1 && read_in_parts(reading, options, scope, parts)) return;
  TraceFile file(reading.path, {options.cancel});
  CountingSink counting(*reading.builder, reading.on_records);
  file.read(counting, scope);
  reading.report = report_of(file);
  keep_processes(reading, counting.seen());
}

void read_one(Reading& reading, const OpenOptions& options, bool alone, std::size_t threads) {
  try {
    if (is_trace_database(reading.path)) {
      read_database(reading, options, threads);
    } else {
      CountingSink counting(*reading.builder, reading.on_records);
      reading.report = import_kineto(reading.path, counting, options.cancel);
      keep_processes(reading, counting.seen());
    }
    // The windows of a process join before; recordings of ours have none in several files.
    const auto own = [](const FileProcess& process) { return process.run.source == "swinscope"; };
    if (alone || std::ranges::all_of(reading.processes, own)) reading.builder->prepare();
  } catch (const MemoryError&) {
    reading.other = std::current_exception();
  } catch (const Error& error) {
    reading.error = error;
  } catch (...) {
    reading.other = std::current_exception();
  }
}

void read_all(Readings& readings, const OpenOptions& options) {
  std::atomic<std::size_t> next = 0;
  const auto threads = static_cast<std::size_t>(options.threads);
  const auto work = [&] {
    for (std::size_t i = next++; i < readings.size(); i = next++)
      read_one(*readings[i], options, readings.size() == 1, threads / readings.size());
  };
  const std::size_t count = std::min(readings.size(), threads);
  std::vector<std::thread> helpers;
  for (std::size_t i = 1; i < count; ++i)
    helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers)
    helper.join();
  for (const auto& reading : readings) {
    if (reading->other) std::rethrow_exception(reading->other);
  }
}

// Says what could not be read, and leaves out what stands beside traces and is none. Throws when nothing remains.
void sort_out_files(Readings& readings, Trace& trace) {
  const auto readable = [](const auto& reading) { return !reading->error; };
  if (std::ranges::none_of(readings, readable)) throw Error(*readings.front()->error);
  for (const auto& reading : readings) {
    if (readings.size() == 1) break;
    const std::string why = why_foreign(reading->path, reading->error, reading->processes);
    if (!why.empty()) {
      trace.warnings.push_back(fmt::format("{}: left out, it is no trace ({})", reading->path.string(), why));
    } else if (reading->error) {
      trace.corrupt = true;
      trace.warnings.push_back(fmt::format("{} ({})", reading->error->what(), reading->error->cause()));
    } else {
      continue;
    }
    reading->processes.clear();
    reading->error = reading->error.value_or(Error(ErrorKind::kInput, why));
  }
  if (std::ranges::none_of(readings, readable)) {
    throw Error(ErrorKind::kInput, fmt::format("{}: a folder without traces", trace.path), trace.warnings.front(),
                "give a run folder or a trace file");
  }
  std::erase_if(readings, [](const auto& reading) { return reading->error.has_value(); });
}

// Gives ranks, and joins the windows of a process.
void settle(Readings& readings, Trace& trace) {
  struct Origin {
    Reading* reading;
    std::size_t process;
  };
  std::vector<FileProcess> processes;
  std::vector<Origin> origins;
  for (const auto& reading : readings) {
    for (std::size_t i = 0; i < reading->processes.size(); ++i) {
      processes.push_back(reading->processes[i]);
      origins.push_back({reading.get(), i});
    }
  }
  const Job job = settle_job(processes);
  std::vector<FileProcess> heads = processes;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const Place& place = job.places[i];
    const Origin& own = origins[i];
    heads[i].run.rank = place.rank;
    if (place.twice) {
      own.reading->builder->leave_out(own.process);
    } else if (place.head != i) {
      FileProcess& head = heads[place.head];
      const RecordShift shift = join_windows(head, processes[i], place.offset_ns);
      const Origin& into = origins[place.head];
      into.reading->builder->append(into.process, *own.reading->builder, own.process, shift);
    }
  }
  for (std::size_t i = 0; i < processes.size(); ++i) {
    if (job.places[i].head == i) origins[i].reading->builder->set_run(origins[i].process, heads[i].run);
  }
  std::ranges::copy(job.notes, std::back_inserter(trace.warnings));
  std::ranges::copy(job.doubts, std::back_inserter(trace.doubts));
}

// What Nsight Systems said about its own recording.
void add_diagnostics(Trace& trace) {
  for (const Rank& rank : trace.ranks) {
    for (const NamedValue& fact : rank.run.collector) {
      if (fact.name != kSourceWarning && fact.name != kSourceDoubt) continue;
      const std::string line = fmt::format("Nsight Systems says: {}", fact.value);
      if (std::ranges::find(trace.warnings, line) != trace.warnings.end()) continue;
      trace.warnings.push_back(line);
      if (fact.name == kSourceDoubt) trace.doubts.push_back(line);
    }
  }
}

// One line for each reason: an export has many tables that are not read.
std::vector<std::pair<std::string, std::vector<std::string>>> drops_by_reason(const std::vector<DropInfo>& drops) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_reason;
  for (const DropInfo& drop : drops) {
    auto found = std::ranges::find(by_reason, drop.reason, &decltype(by_reason)::value_type::first);
    if (found == by_reason.end()) found = by_reason.insert(found, {drop.reason, {}});
    found->second.push_back(counted(drop.count, drop.what));
  }
  return by_reason;
}

void add_drop_warnings(Trace& trace) {
  for (const Rank& rank : trace.ranks) {
    for (const auto& [reason, what] : drops_by_reason(rank.run.drops)) {
      const bool are_tables = what.size() > 1 && reason == "this table is not read";
      trace.warnings.push_back(fmt::format("rank {}: {} left out: {}", rank.run.rank, fmt::join(what, ", "),
                                           are_tables ? "these tables are not read" : reason));
    }
    if (rank.run.graph_level_only) {
      trace.warnings.push_back(fmt::format(
          "rank {}: CUDA graphs were traced as whole graphs, the kernels inside them are missing from every table "
          "(record with node-level graph tracing to see them)",
          rank.run.rank));
    }
    if (!rank.run.complete) {
      trace.warnings.push_back(fmt::format("rank {}: the recording was cut off", rank.run.rank));
    }
  }
}

// What the importer of a stored trace doubted.
void add_doubts(Trace& trace) {
  for (const Rank& rank : trace.ranks) {
    for (const NamedValue& fact : rank.run.collector) {
      const bool is_new = std::ranges::find(trace.doubts, fact.value) == trace.doubts.end();
      if (fact.name == "doubt" && is_new) trace.doubts.push_back(fact.value);
    }
  }
}

}  // namespace

ImportReport read_trace_file(const fs::path& path, TraceSink& sink, const std::atomic<bool>* cancel) {
  if (!is_trace_database(path)) return import_kineto(path, sink, cancel);
  TraceFile file(path, {cancel});
  file.read(sink);
  return report_of(file);
}

void refuse_independent_runs(const fs::path& path) {
  const std::vector<fs::path> runs = independent_runs(path);
  if (runs.empty()) return;
  throw Error(
      ErrorKind::kUsage, fmt::format("{}: a folder of {} independent runs, not one job", path.string(), runs.size()),
      fmt::format("{} and {} are of different programs or times, and nothing says that they are ranks of one job",
                  runs[0].filename().string(), runs[1].filename().string()),
      fmt::format("`swinscope analyze {}` compares them; or give one of its files, such as {}",
                  path_argument(path.string()), path_argument(runs.front().string())));
}

Trace open_trace(const fs::path& path, const std::atomic<bool>* cancel) {
  OpenOptions options;
  options.cancel = cancel;
  return open_trace(path, options);
}

Trace open_trace(const fs::path& path, const OpenOptions& options) {
  refuse_independent_runs(path);
  Trace trace;
  trace.path = path.string();
  Readings readings;
  for (fs::path& file : trace_files(path, &trace.warnings))
    readings.push_back(std::make_unique<Reading>(std::move(file), options));
  read_all(readings, options);
  if (options.cancel != nullptr && *options.cancel)
    throw Error(ErrorKind::kInterrupted, fmt::format("{}: reading was stopped", path.string()), "cancelled");
  sort_out_files(readings, trace);
  settle(readings, trace);
  parallel_for(readings.size(), options.threads, [&](std::size_t i) { readings[i]->builder->prepare(); });

  trace.files = 0;
  for (const auto& reading : readings) {
    reading->builder->move_into(trace);
    if (std::ranges::any_of(reading->processes, [](const FileProcess& p) { return p.run.rank != kNoRank; }))
      ++trace.files;
    if (trace.description.empty()) trace.description = reading->report.description;
    trace.corrupt |= reading->report.corrupt;
    std::ranges::copy(reading->report.warnings, std::back_inserter(trace.warnings));
    std::ranges::copy(reading->report.doubts, std::back_inserter(trace.doubts));
  }
  refuse_impossible(trace);
  if (readings.size() > 1) trace.description = fmt::format("{} files; first: {}", readings.size(), trace.description);
  std::ranges::stable_sort(trace.ranks, {}, [](const Rank& rank) { return rank.run.rank; });
  add_diagnostics(trace);
  if (!options.spans_only) classify(trace, options.class_rules);
  add_drop_warnings(trace);
  add_doubts(trace);
  return trace;
}

}  // namespace swinscope
