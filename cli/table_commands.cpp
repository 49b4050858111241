// swinscope collectives|gaps|launches|roofline RUN: one question about a run, answered by one table.
#include <memory>

#include "analyzer/report/analysis_documents.h"
#include "cli/command.h"
#include "cli/selection.h"

namespace swinscope::cli {
namespace {

struct TableCommand {
  const char* name;
  const char* help;
  const char* text_column;  // that --filter looks at; nullptr: any text of any table
  Document (*document)(const RunFacts& run);
  Document (*named)(const RunFacts& run, NameStyle style) = nullptr;  // instead, where it shows names of kernels
};

constexpr TableCommand kCollectives{"collectives",
                                    "Transfer, wait, arrival spread and bandwidth of the collectives of all ranks",
                                    "kind", &collectives_document};
constexpr TableCommand kGaps{"gaps", "Idle gaps of the GPUs: how long, why, and what the host did meanwhile", "cause",
                             nullptr, &gaps_document};
constexpr TableCommand kLaunches{"launches", "API time, queue time, launch delay and queue length", nullptr,
                                 &launches_document};
constexpr TableCommand kRoofline{"roofline",
                                 "How near layers come to what the GPU can do at most, and the time over that", "path",
                                 &roofline_document};

struct Options {
  CommonOptions common;
  SelectionOptions selection;
  TableOptions table;
  NamesOption names;
  std::string run;
};

int run(const TableCommand& asked, const Options& options) {
  const Trace trace = open_run(options.run, options.common);
  const RunFacts facts(trace, options.selection.get());
  Document document = asked.named != nullptr ? asked.named(facts, options.names.style()) : asked.document(facts);
  if (asked.text_column != nullptr) options.table.apply(document.tables.front(), asked.text_column);
  emit(document, options.common);
  return status_of(trace);
}

void add(const TableCommand& asked, Program& program) {
  auto options = std::make_shared<Options>();
  Command& command = program.add_command(asked.name, asked.help);
  command.option("RUN", options->run, "Trace to analyze: a job's folder has the files of all its ranks").required();
  if (asked.text_column != nullptr) {
    options->table.add_to(command);
  } else {
    options->common.tables.add_to(command);
  }
  if (asked.named != nullptr) options->names.add_to(command);
  options->selection.add_to(command);
  options->common.add_class_rules(command);
  options->common.add_to(command);
  command.does([options, &asked] { return run(asked, *options); });
}

}  // namespace

void add_collectives(Program& program) { add(kCollectives, program); }
void add_gaps(Program& program) { add(kGaps, program); }
void add_launches(Program& program) { add(kLaunches, program); }
void add_roofline(Program& program) { add(kRoofline, program); }

}  // namespace swinscope::cli
