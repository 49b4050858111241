// swinscope query RUN "SELECT …": SQL on the trace file, read-only.
#include "analyzer/query/query.h"

#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cli/command.h"
#include "store/error.h"

namespace swinscope::cli {
namespace {

struct QueryCommand {
  CommonOptions common;
  std::string run;
  std::string sql;
};

int run_query(const QueryCommand& options) {
  const QueriedRun run(options.run, &interrupted());
  if (!options.common.quiet) {
    for (const std::string& warning : run.warnings())
      fmt::print(stderr, "warning: {}\n", warning);
  }
  Document document;
  document.schema = "query";
  document.run = options.run;
  document.warnings = run.warnings();
  QueryResult result = run.run(options.sql, {.cancel = &interrupted()});
  document.tables.push_back(std::move(result.table));
  if (const std::string note = result.note(); !note.empty()) document.notes.push_back(note);
  emit(document, options.common);
  return run.is_corrupt() ? static_cast<int>(ErrorKind::kInput) : 0;
}

}  // namespace

void add_query(Program& program) {
  auto options = std::make_shared<QueryCommand>();
  Command& command = program.add_command("query", "Run SQL on a trace, read-only");
  command.option("RUN", options->run, "Trace to query").required();
  command.option("SQL", options->sql, "The statement; tables are documented in docs/schema.md").required();
  options->common.tables.add_to(command);
  options->common.add_to(command);
  command.does([options] { return run_query(*options); });
}

}  // namespace swinscope::cli
