// What of a rank is compared with thousands of others: a few numbers, which a finished recording carries
// (SWINSCOPE_SUMMARY), so that a job is compared without reading an event.
//
// The figures are those of time_breakdown.h of one file alone, of its measured steps. What needs the other ranks, such
// as how much of a collective was waiting, is not among them.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/analyses/run_facts.h"
#include "analyzer/table/table.h"

namespace swinscope {

struct RankSummary {
  std::int32_t rank = 0;
  std::int32_t world_size = 0;  // 0: unknown
  std::string host;
  std::int64_t steps = 0;                    // measured; 0 where the scope is the whole trace
  std::optional<std::int64_t> step_ns;       // of this rank (scope.h)
  std::optional<std::int64_t> warmup_steps;  // that were left out; nothing: no experiment says
  std::vector<DeviceBreakdown> devices;
};

// One for each process of the scope.
std::vector<RankSummary> rank_summaries(const RunFacts& run);

// Stores the summary of a finished recording in its file. Nothing is done for a file that holds it already or that is
// still being written (a log lies beside it). Throws Error.
void store_summary(const std::filesystem::path& trace_file, const std::atomic<bool>* cancel = nullptr);

// The summary that a file carries; nothing where it has none, or one of other events, of another version or without as
// many steps of warm-up as the experiment now says. Throws Error where the file cannot be opened.
std::optional<RankSummary> stored_summary(const std::filesystem::path& trace_file,
                                          const std::atomic<bool>* cancel = nullptr);

// Of a run: of each file the stored summary, else the one of its events. Several files are read at once. Throws Error.
std::vector<RankSummary> summarize_files(const std::filesystem::path& run, const std::atomic<bool>* cancel = nullptr);

// A row for each rank and device; times per step where there are steps. `compute_to_median` is the time in which the
// device computed, over the median of all: a device that needs longer for the same work makes the others wait.
Table rank_summary_table(std::span<const RankSummary> ranks);

}  // namespace swinscope
