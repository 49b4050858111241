// swinscope import FILE… -o DIR
#include "analyzer/importers/import.h"

#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "cli/command.h"
#include "collector/launcher/run_claim.h"
#include "store/error.h"

namespace swinscope::cli {
namespace {

struct ImportOptions {
  CommonOptions common;
  std::vector<std::string> inputs;
};

int run_import(const ImportOptions& options) {
  const std::vector<std::filesystem::path> inputs(options.inputs.begin(), options.inputs.end());
  refuse_while_recorded(options.common.output);
  const ImportResult result = import_traces(inputs, options.common.output, options.common.force, &interrupted());
  if (!options.common.quiet) {
    for (const std::string& warning : result.warnings)
      fmt::print(stderr, "warning: {}\n", warning);
  }
  Table table{"files", "Imported", {{"rank", "rank", Unit::kCount}, {"file", "file"}, {"source", "from"}}, {}};
  for (const ImportedFile& file : result.files) {
    table.rows.push_back({std::int64_t{file.rank}, file.path.string(), file.source});
  }
  Document document;
  document.schema = "import";
  document.run = options.common.output;
  document.warnings = result.warnings;
  document.tables.push_back(std::move(table));
  CommonOptions to_stdout = options.common;
  to_stdout.output.clear();
  emit(document, to_stdout);
  return result.corrupt ? static_cast<int>(ErrorKind::kInput) : 0;
}

}  // namespace

void add_import(Program& program) {
  auto options = std::make_shared<ImportOptions>();
  Command& command =
      program.add_command("import", "Convert Nsight Systems exports and PyTorch traces into a run folder");
  command.option("FILE", options->inputs, "Files or folders to convert").required();
  options->common.add_to(command);
  command.get("--output").required().description("Run folder to write");
  command.does([options] { return run_import(*options); });
}

}  // namespace swinscope::cli
