#include "analyzer/open.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "analyzer/classify.h"
#include "analyzer/counting_sink.h"
#include "analyzer/kineto.h"
#include "analyzer/parallel.h"
#include "analyzer/text.h"
#include "analyzer/trace_builder.h"
#include "store/error.h"
#include "store/reader.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

enum class Format { kSqlite, kGzip, kJson, kEmpty, kUnknown };

Format sniff(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw Error(ErrorKind::kInput, fmt::format("{}: cannot be read", path.string()), std::strerror(errno),
                "check the path and its permissions");
  }
  std::array<char, 16> head{};
  file.read(head.data(), head.size());
  const std::string_view text(head.data(), static_cast<std::size_t>(file.gcount()));
  constexpr std::string_view kSqliteMagic("SQLite format 3\0", 16);
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.empty()) return Format::kEmpty;
  if (text == kSqliteMagic) return Format::kSqlite;
  if (text.substr(0, 2) == "\x1F\x8B") return Format::kGzip;
  std::string_view json = text.substr(0, 3) == kByteOrderMark ? text.substr(3) : text;
  const auto trim = [&] {
    while (!json.empty() && std::isspace(static_cast<unsigned char>(json.front())) != 0)
      json.remove_prefix(1);
  };
  trim();
  while (json.empty() && (file.read(head.data(), head.size()).gcount() > 0)) {
    json = std::string_view(head.data(), static_cast<std::size_t>(file.gcount()));
    trim();
  }
  return !json.empty() && (json.front() == '{' || json.front() == '[') ? Format::kJson : Format::kUnknown;
}

bool has_trace_name(const fs::path& path) {
  const std::string name = path.filename().string();
  constexpr std::array<std::string_view, 5> kSuffixes = {".db", ".sqlite", ".sqlite3", ".json", ".json.gz"};
  // Hidden files are conversions that were cut off.
  return name.front() != '.' && name != "run.json" && name != "experiment.json" &&
         std::any_of(kSuffixes.begin(), kSuffixes.end(), [&](std::string_view suffix) {
           return name.size() > suffix.size() && name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
         });
}

// One file on its way into the trace.
struct Reading {
  Reading(fs::path file, const std::atomic<bool>* cancel) : path(std::move(file)), builder(cancel) {}

  fs::path path;
  TraceBuilder builder;
  ImportReport report;
  std::optional<Error> error;
  std::exception_ptr other;
};

// GPU work on one thread, calls and ranges on another.
void read_spans(Reading& reading, const OpenOptions& options) {
  TraceBuilder host(options.cancel);
  parallel_for(2, 2, [&](std::size_t part) {
    TraceFile file(reading.path, {options.cancel});
    const bool gpu = part == 0;
    if (gpu) reading.report.description = file.description();
    CountingSink counting(gpu ? reading.builder : host, options.on_records);
    file.read(counting, gpu ? ReadScope::kGpuSpans : ReadScope::kHostSpans);
  });
  reading.builder.absorb(host);
}

void read_one(Reading& reading, const OpenOptions& options) {
  try {
    if (options.spans_only && is_trace_database(reading.path)) {
      read_spans(reading, options);
    } else {
      CountingSink counting(reading.builder, options.on_records);
      reading.report = read_trace_file(reading.path, counting, options.cancel);
    }
    reading.builder.prepare();
  } catch (const Error& error) {
    reading.error = error;
  } catch (...) {
    reading.other = std::current_exception();
  }
}

void read_all(std::vector<std::unique_ptr<Reading>>& readings, const OpenOptions& options) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < readings.size(); i = next++)
      read_one(*readings[i], options);
  };
  const std::size_t count = std::min<std::size_t>(readings.size(), std::max(1U, std::thread::hardware_concurrency()));
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

// Foreign files do not know their rank when they were made apart: number them in the order of their names.
void settle_rank_numbers(Trace& trace) {
  std::set<std::int32_t> taken;
  bool clash = false;
  for (const Rank& rank : trace.ranks)
    clash |= rank.run.source != "swinscope" && !taken.insert(rank.run.rank).second;
  if (clash) {
    std::int32_t number = 0;
    for (Rank& rank : trace.ranks)
      rank.run.rank = number++;
    trace.warnings.emplace_back("several files claim the same rank; ranks are numbered in the order of the file names");
  }
  std::stable_sort(trace.ranks.begin(), trace.ranks.end(),
                   [](const Rank& a, const Rank& b) { return a.run.rank < b.run.rank; });
}

void add_drop_warnings(Trace& trace) {
  for (const Rank& rank : trace.ranks) {
    for (const DropInfo& drop : rank.run.drops) {
      trace.warnings.push_back(
          fmt::format("rank {}: {} left out: {}", rank.run.rank, counted(drop.count, drop.what), drop.reason));
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
  return {file.description(), {}, false, {}};
}

bool is_trace_database(const fs::path& path) {
  switch (sniff(path)) {
    case Format::kSqlite:
      return true;
    case Format::kGzip:
    case Format::kJson:
      return false;
    case Format::kEmpty:
      throw Error(ErrorKind::kInput, fmt::format("{}: the file is empty", path.string()),
                  "recording or copying it has failed", "record or copy it again");
    case Format::kUnknown:
      break;
  }
  throw Error(ErrorKind::kInput, fmt::format("{}: not a trace", path.string()),
              "it is no SQLite file, no JSON and no gzip file",
              "give a swinscope trace, an Nsight Systems .sqlite export or a PyTorch trace (.json, .json.gz)");
}

std::vector<fs::path> trace_files(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    throw Error(ErrorKind::kInput, fmt::format("{}: no such file or folder", path.string()), {},
                "check the path; `swinscope import` and `swinscope record` make run folders");
  }
  if (!fs::is_directory(status)) return {path};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    if (entry.is_regular_file(error) && has_trace_name(entry.path())) files.push_back(entry.path());
  }
  if (error) {
    throw Error(ErrorKind::kInput, fmt::format("{}: cannot be listed", path.string()), error.message(),
                "check the permissions of the folder");
  }
  if (files.empty() && fs::exists(path / "experiment.json", error)) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: an experiment, not a run", path.string()),
                "it holds several runs; `swinscope analyze` shows them together",
                fmt::format("give one of its runs, such as {}", (path / "gpus1" / "tracing").string()));
  }
  if (files.empty()) {
    throw Error(ErrorKind::kInput, fmt::format("{}: a folder without traces", path.string()),
                "it has no .db, .sqlite, .json or .json.gz file", "give a run folder or a trace file");
  }
  std::sort(files.begin(), files.end());
  return files;
}

Trace open_trace(const fs::path& path, const std::atomic<bool>* cancel) {
  OpenOptions options;
  options.cancel = cancel;
  return open_trace(path, options);
}

Trace open_trace(const fs::path& path, const OpenOptions& options) {
  std::vector<std::unique_ptr<Reading>> readings;
  for (fs::path& file : trace_files(path)) {
    readings.push_back(std::make_unique<Reading>(std::move(file), options.cancel));
  }
  read_all(readings, options);

  Trace trace;
  trace.path = path.string();
  const auto readable = std::count_if(readings.begin(), readings.end(), [](const auto& r) { return !r->error; });
  for (const auto& reading : readings) {
    if (reading->error) {
      if (readable == 0) throw Error(*reading->error);
      trace.corrupt = true;
      trace.warnings.push_back(fmt::format("{} ({})", reading->error->what(), reading->error->cause()));
      continue;
    }
    reading->builder.move_into(trace);
    if (trace.description.empty()) trace.description = reading->report.description;
    trace.corrupt |= reading->report.corrupt;
    trace.warnings.insert(trace.warnings.end(), reading->report.warnings.begin(), reading->report.warnings.end());
    trace.doubts.insert(trace.doubts.end(), reading->report.doubts.begin(), reading->report.doubts.end());
  }
  if (readable > 1) trace.description = fmt::format("{} files; first: {}", readable, trace.description);
  settle_rank_numbers(trace);
  if (!options.spans_only) classify(trace, options.class_rules);
  add_drop_warnings(trace);
  add_doubts(trace);
  return trace;
}

}  // namespace swinscope
