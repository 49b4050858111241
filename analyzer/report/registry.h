// The analyses that say what a run is like: one row each, in the order in which documents show them. Terminal, JSON,
// reports and the desktop program iterate them, so that a new analysis is a file in analyses/, a row here and a golden
// case.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "analyzer/analyses/run_facts.h"
#include "analyzer/table/table.h"

namespace swinscope {

// Of a report, and of the desktop program's lists; in this order.
enum class AnalysisSection : std::uint8_t { kTime, kWork, kRanks, kRecording };
inline constexpr std::array kAnalysisSections = {AnalysisSection::kTime, AnalysisSection::kWork,
                                                 AnalysisSection::kRanks, AnalysisSection::kRecording};

enum class AnalysisUse : std::uint8_t {
  kOverview,   // the first page of the desktop program shows it, and so does everything below
  kSummary,    // `analyze` prints it, and so does everything below
  kAsked,      // `analyze` does when asked (--thesis)
  kDetail,     // reports show it; `analyze` leaves it to a command of its own
  kReference,  // the desktop program shows it, and a command of its own: it is long, or stands elsewhere in reports
};

struct AnalysisOptions {
  std::size_t top = 0;  // kernels; 0: all
};

struct Analysis {
  std::string_view key;    // of its table: in JSON, CSV and links
  std::string_view title;  // in lists; the table's own title says more
  // One or two sentences: formula, unit and window, in the words of docs/metrics.md, which lists them. They stand below
  // the title in reports, beside it in the window, in JSON, and `analyze --list` prints them.
  std::string_view definition;
  AnalysisSection section;
  AnalysisUse use;
  // Its figures are of the scope, which the title says. Otherwise they are of the recording.
  bool is_of_scope;
  // Shown without rows where the run has GPU activity: that there are none is worth knowing.
  bool is_shown_empty;
  // No rows where it has nothing to say of the run.
  Table (*run)(const RunFacts& run, const AnalysisOptions& options);
};

std::span<const Analysis> analyses();

// The table with its whole title and its definition. `is_worth_showing`: it has rows, or that it has none says
// something.
Table table_of(const Analysis& analysis, const RunFacts& run, const AnalysisOptions& options);
bool is_worth_showing(const Analysis& analysis, const Table& table, const RunFacts& run);

// For commands with options of their own: the table with the definition of the analysis that has its key.
Table defined(Table table);

std::string_view section_title(AnalysisSection section);

}  // namespace swinscope
