// swinscope ranks RUN: the ranks of a job beside each other, from the summaries that their files carry.
#include <memory>

#include <fmt/format.h>

#include "analyzer/analyses/rank_summary.h"
#include "analyzer/report/registry.h"
#include "cli/command.h"
#include "store/error.h"

namespace swinscope::cli {
namespace {

struct RanksOptions {
  CommonOptions common;
  TableOptions table;
  std::string run;
};

int run_ranks(const RanksOptions& options) {
  const std::vector<RankSummary> ranks = summarize_files(options.run, &interrupted());
  if (ranks.empty()) {
    throw Error(ErrorKind::kFailure, fmt::format("{}: has no ranks", options.run), "no process of a job was recorded",
                "run `swinscope info` to see what it holds");
  }
  Document document;
  document.schema = "ranks";
  document.run = options.run;
  document.tables = {defined(rank_summary_table(ranks))};
  document.notes = {
      "Of the measured steps of each file alone; compute, exposed communication, exposed copies and idle per step.",
      "to median: the rank's compute over the median of all. What of a collective was waiting needs all ranks at once: "
      "`swinscope analyze` says it."};
  options.table.apply(document.tables.front(), "host");
  emit(document, options.common);
  return 0;
}

}  // namespace

void add_ranks(Program& program) {
  auto options = std::make_shared<RanksOptions>();
  Command& command = program.add_command("ranks", "The ranks of a job beside each other, from their files' summaries");
  command.option("RUN", options->run, "Run to describe").required();
  options->table.add_to(command);
  options->common.add_to(command);
  command.does([options] { return run_ranks(*options); });
}

}  // namespace swinscope::cli
