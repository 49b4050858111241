// swinscope export RUN --format perfetto|kineto|csv|parquet -o FILE|DIR: the events of a run for other tools.
#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "analyzer/export/kineto.h"
#include "analyzer/export/output.h"
#include "analyzer/export/perfetto.h"
#include "analyzer/export/source.h"
#include "analyzer/export/table_folder.h"
#include "cli/command.h"
#include "cli/selection.h"
#include "store/error.h"

namespace swinscope::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kFormats = {"perfetto", "kineto", "csv", "parquet"};

struct ExportOptions {
  CommonOptions common;
  SelectionOptions selection;
  std::string run;
  bool whole_trace = false;
};

// On stderr: the standard output may be the export's.
void say(const ExportOptions& options, const std::string& line) {
  if (!options.common.quiet) fmt::print(stderr, "{}\n", line);
}

void export_for_viewers(const ExportSource& source, const ExportOptions& options) {
  ExportOutput output(options.common.output, options.common.force);
  const std::int64_t events = export_perfetto(source, output);
  output.finish();
  if (options.common.output == kStandardOutput) return;
  say(options, fmt::format("{}: {} events; https://ui.perfetto.dev opens it", options.common.output, events));
}

// A folder of ranks, and of tables, has any other name.
bool is_one_file(const ExportOptions& options) {
  const fs::path target = options.common.output;
  if (options.common.format == "perfetto") return true;
  const bool names_file = target == kStandardOutput || target.extension() == ".json" || target.extension() == ".gz";
  return options.common.format == "kineto" && names_file;
}

// One rank goes into a file where the name says so, else each into a file of the folder.
void export_for_torch_tools(const ExportSource& source, const ExportOptions& options) {
  const fs::path target = options.common.output;
  std::vector<std::size_t> ranks;
  for (std::size_t r = 0; r < source.trace().ranks.size(); ++r) {
    if (source.scope().has_rank(r)) ranks.push_back(r);
  }
  const bool is_file = is_one_file(options);
  if (is_file && ranks.size() > 1) {
    throw Error(ErrorKind::kUsage, fmt::format("-o {}: one file for {} processes", target.string(), ranks.size()),
                "a trace in the format of the PyTorch profiler is of one process",
                "give a folder with -o, or choose a rank with --rank");
  }
  if (!is_file) prepare_export_folder(target, options.common.force);
  for (const std::size_t rank : ranks) {
    const fs::path file = is_file ? target : target / kineto_file_name(source.trace(), rank);
    ExportOutput output(file, options.common.force);
    const std::int64_t events = export_kineto(source, rank, output);
    output.finish();
    if (file != kStandardOutput) say(options, fmt::format("{}: {} events", file.string(), events));
  }
}

void export_tables(const ExportSource& source, const ExportOptions& options) {
  const TableFormat format = options.common.format == "csv" ? TableFormat::kCsv : TableFormat::kParquet;
  const auto files = export_table_folder(source, options.common.output, format, options.common.force);
  say(options, fmt::format("{}: {} tables", options.common.output, files.size()));
}

void check_options(const ExportOptions& options) {
  const std::string& format = options.common.format;
  if (std::ranges::find(kFormats, format) == kFormats.end()) {
    throw Error(ErrorKind::kUsage,
                format.empty() ? "export needs --format" : fmt::format("--format {}: not a format of export", format),
                "there are perfetto, kineto, csv and parquet",
                "perfetto is for looking at, kineto for tools that read PyTorch's traces, csv and parquet for tables");
  }
  if (options.common.output.empty()) {
    throw Error(ErrorKind::kUsage, "export needs -o", "it says where the export goes",
                format == "perfetto" ? "give a file such as -o trace.json.gz, or -o - for the standard output"
                                     : "give a folder such as -o exported");
  }
  if (is_one_file(options)) return check_export_file(options.common.output, options.common.force);
  if (options.common.output == kStandardOutput) {
    throw Error(ErrorKind::kUsage, fmt::format("-o -: --format {} is a folder of files", format), {},
                "give a folder with -o");
  }
  check_export_folder(options.common.output, options.common.force);
}

// Everything that was recorded, unless something else is asked for.
Selection selection_of(const ExportOptions& options) {
  SelectionOptions chosen = options.selection;
  if (chosen.scope.empty()) chosen.scope = options.whole_trace || chosen.steps.empty() ? "trace" : "steps";
  if (options.whole_trace && chosen.scope != "trace") {
    throw Error(ErrorKind::kUsage, "--whole-trace with --scope steps: choose one", {}, "leave one of them away");
  }
  return chosen.get();
}

int run_export(const ExportOptions& options) {
  check_options(options);
  const Trace trace = open_run(options.run, options.common);
  const ExportSource source(trace, selection_of(options), read_source_counters(trace, &interrupted()), &interrupted());
  if (options.common.format == "perfetto") {
    export_for_viewers(source, options);
  } else if (options.common.format == "kineto") {
    export_for_torch_tools(source, options);
  } else {
    export_tables(source, options);
  }
  return status_of(trace);
}

}  // namespace

void add_export(Program& program) {
  auto options = std::make_shared<ExportOptions>();
  options->selection.scope.clear();
  Command& command = program.add_command("export", "Write the events of a run for other tools");
  command.option("RUN", options->run, "Trace to export").required();
  options->common.add_to(command);
  options->common.format.clear();
  // These say how tables are printed elsewhere. A file of settings may hold a default for all commands, so that what is
  // given is judged when the command runs.
  for (const char* other : {"--format", "--color"})
    command.remove(other);
  command.option("--format", options->common.format,
                 "perfetto (a file for Perfetto or chrome://tracing), kineto (for HTA, TraceLens and import), csv "
                 "or parquet (a folder of tables)");
  command.get("--output").description("File or folder to write; - is the standard output");
  options->selection.add_to(command);
  command.flag("--whole-trace", options->whole_trace, "Everything that was recorded (the default)")
      .group("What the figures are of");
  command.get("--scope").description("trace (everything recorded, the default) or steps (the measured steps)");
  options->common.add_class_rules(command);
  command.does([options] { return run_export(*options); });
}

}  // namespace swinscope::cli
