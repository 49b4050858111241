// Whether the traces of a folder are one job. Two files are of one run unless what they say about it contradicts: ranks
// of a job agree on its size, are at work at the same time, and no two of its processes have the same rank.
#include <algorithm>
#include <optional>

#include "analyzer/importers/file_facts.h"
#include "analyzer/importers/open.h"
#include "analyzer/importers/ranks.h"
#include "store/error.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

// Between the times of two files that can be of one job: clocks of hosts differ, and profiling windows are short. The
// files of ours last as long as their processes.
constexpr std::int64_t kSlackNs = 5'000'000'000;
// Between the beginnings, where the end of a file is not known.
constexpr std::int64_t kBeginSlackNs = 30'000'000'000;

bool at_different_times(const FileFacts& a, const FileFacts& b) {
  if (a.begin_utc_ns == 0 || b.begin_utc_ns == 0) return false;
  const FileFacts& first = a.begin_utc_ns <= b.begin_utc_ns ? a : b;
  const FileFacts& second = a.begin_utc_ns <= b.begin_utc_ns ? b : a;
  if (first.end_utc_ns == 0) return second.begin_utc_ns - first.begin_utc_ns > kBeginSlackNs;
  const bool own = a.source == "swinscope" && b.source == "swinscope";
  return second.begin_utc_ns - first.end_utc_ns > (own ? 0 : kSlackNs);
}

bool differ(const std::string& a, const std::string& b) { return !a.empty() && !b.empty() && a != b; }

// What one process wrote in several profiling windows, or one trace twice.
bool may_be_one_process(const FileFacts& a, const FileFacts& b) {
  const std::string worker = trace_handler_worker(a.file);
  if (!worker.empty() && worker == trace_handler_worker(b.file)) return true;
  return a.pid == b.pid && !differ(a.host, b.host) && !differ(a.command, b.command);
}

bool same_rank_agrees(const FileFacts& a, const FileFacts& b) {
  // Of a stated job: windows of a rank, its workers, or its next start.
  if (a.world_size > 1) return !differ(a.command, b.command);
  if (a.source == "swinscope" && b.source == "swinscope")
    return !differ(a.command, b.command) && (a.pid == b.pid || !at_different_times(a, b));
  // Of one process at two times. Without times it cannot be one: no process has two ranks 0 at once.
  if (a.rank && b.rank) return may_be_one_process(a, b) && a.begin_utc_ns > 0 && b.begin_utc_ns > 0;
  return may_be_one_process(a, b) || (!at_different_times(a, b) && !differ(a.command, b.command));
}

bool of_one_run(const FileFacts& a, const FileFacts& b) {
  if (a.world_size > 0 && b.world_size > 0 && a.world_size != b.world_size) return false;
  const auto number = [](const FileFacts& facts) { return facts.rank ? facts.rank : rank_in_name(facts.file); };
  const auto rank_a = number(a);
  const auto rank_b = number(b);
  if (rank_a && rank_b && *rank_a != *rank_b) return true;
  return same_rank_agrees(a, b);
}

// Of the files that can be read.
std::vector<FileFacts> facts_of(const std::vector<fs::path>& files) {
  std::vector<FileFacts> facts;
  for (const fs::path& file : files) {
    try {
      facts.push_back(read_file_facts(file));
    } catch (const Error&) {
      continue;  // opening it says what is wrong
    }
  }
  return facts;
}

}  // namespace

std::vector<fs::path> independent_runs_of(const std::vector<fs::path>& files) {
  std::vector<FileFacts> facts = facts_of(files);
  if (std::ranges::any_of(facts, &FileFacts::launcher)) return {};
  std::erase_if(facts, [](const FileFacts& file) { return file.further_process; });
  std::vector<std::vector<FileFacts>> runs;
  for (FileFacts& file : facts) {
    const auto home = std::ranges::find_if(runs, [&](const std::vector<FileFacts>& run) {
      return std::ranges::all_of(run, [&](const FileFacts& member) { return of_one_run(member, file); });
    });
    if (home == runs.end()) {
      runs.push_back({std::move(file)});
    } else {
      home->push_back(std::move(file));
    }
  }
  std::vector<fs::path> first;
  if (runs.size() < 2) return first;
  for (const std::vector<FileFacts>& run : runs) {
    const auto lowest = std::ranges::min_element(run, {}, [](const FileFacts& file) { return file.rank.value_or(0); });
    first.push_back(lowest->file);
  }
  std::ranges::sort(first, natural_less, [](const fs::path& file) { return file.string(); });
  return first;
}

std::vector<fs::path> independent_runs(const fs::path& folder) {
  std::error_code none;
  if (!fs::is_directory(folder, none)) return {};
  // `record` and `import` write the first for what is one run; the others are for the runs of an experiment.
  for (const char* mark : {"run.json", "point.json", "experiment.json"}) {
    if (fs::exists(folder / mark, none)) return {};
  }
  try {
    return independent_runs_of(trace_files(folder));
  } catch (const Error&) {
    return {};  // no traces at all, which opening it says
  }
}

}  // namespace swinscope
