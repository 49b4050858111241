// swinscope ranks RUN: who waits for whom and why, and the ranks of a job beside each other. From the events of all
// ranks where these are few enough to be read while somebody waits, else from the summaries that their files carry.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "analyzer/analyses/rank_summary.h"
#include "analyzer/importers/trace_files.h"
#include "analyzer/report/analysis_documents.h"
#include "analyzer/report/registry.h"
#include "cli/command.h"
#include "cli/selection.h"
#include "store/error.h"

namespace swinscope::cli {
namespace {

// What `--from auto` reads events of: a minute at most on two cores.
constexpr std::size_t kMostFiles = 64;
constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 30;

struct RanksOptions {
  CommonOptions common;
  SelectionOptions selection;
  TableOptions table;
  std::string run;
  std::string from = "auto";
};

bool reads_events(const RanksOptions& options) {
  const bool is_selected = options.selection.get() != Selection();
  if (options.from == "summaries" && is_selected) {
    throw Error(ErrorKind::kUsage, "--from summaries: no part of a run can be chosen of its summaries",
                "they are of the measured steps of each file", "leave --from away, or the selection");
  }
  if (options.from != "auto" || is_selected) return options.from != "summaries";
  const std::vector<std::filesystem::path> files = trace_files(options.run);
  std::uintmax_t bytes = 0;
  for (const std::filesystem::path& file : files) {
    std::error_code none;
    const std::uintmax_t size = std::filesystem::file_size(file, none);
    bytes += none ? 0 : size;
  }
  return files.size() <= kMostFiles && bytes <= kMostBytes;
}

// "6 of 8 ranks are missing."
std::vector<std::string> missing_note(const std::vector<RankSummary>& ranks) {
  std::set<std::int32_t> here;
  std::int64_t world = 0;
  for (const RankSummary& rank : ranks) {
    here.insert(rank.rank);
    world = std::max<std::int64_t>(world, rank.world_size);
  }
  const std::int64_t missing = world - static_cast<std::int64_t>(here.size());
  if (missing <= 0) return {};
  return {fmt::format("{} of {} ranks are missing: figures are of those that are here.", missing, world)};
}

Document summaries_document(const RanksOptions& options) {
  const std::vector<RankSummary> ranks = summarize_files(options.run, &interrupted());
  if (ranks.empty()) {
    throw Error(ErrorKind::kFailure, fmt::format("{}: has no ranks", options.run), "no process of a job was recorded",
                "run `swinscope info` to see what it holds");
  }
  Document document;
  document.schema = "ranks";
  document.run = options.run;
  document.tables = {defined(rank_summary_table(ranks))};
  document.notes = missing_note(ranks);
  document.notes.insert(
      document.notes.end(),
      {"Of the measured steps of each file alone; compute, exposed communication, exposed copies and idle per step.",
       "to median: the rank's compute over the median of all. Summaries do not tell who waits for whom, and why: "
       "`--from events` reads all ranks for it."});
  return document;
}

int run_ranks(const RanksOptions& options) {
  if (!reads_events(options)) {
    Document document = summaries_document(options);
    options.table.apply(document.tables.front(), "host");
    emit(document, options.common);
    return 0;
  }
  const Trace trace = open_run(options.run, options.common);
  Document document = ranks_document(RunFacts(trace, options.selection.get()), options.common.format != "table");
  if (document.tables.empty()) {
    throw Error(ErrorKind::kFailure, fmt::format("{}: has no ranks", options.run), "no process of a job was recorded",
                "run `swinscope info` to see what it holds");
  }
  options.table.apply(document.tables.back(), "host");
  emit(document, options.common);
  return status_of(trace);
}

}  // namespace

void add_ranks(Program& program) {
  auto options = std::make_shared<RanksOptions>();
  Command& command =
      program.add_command("ranks", "Who waits for whom and why, and the ranks of a job beside each other");
  command.option("RUN", options->run, "Run to describe").required();
  command
      .option("--from", options->from,
              "events of all ranks, summaries that their files carry, or auto: events of up to 64 files and 1 GiB")
      .one_of({"auto", "events", "summaries"});
  options->table.add_to(command);
  options->selection.add_to(command);
  options->common.add_class_rules(command);
  options->common.add_to(command);
  command.does([options] { return run_ranks(*options); });
}

}  // namespace swinscope::cli
