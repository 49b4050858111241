// swinscope report RUN… -o FILE: what the analyses say, as one file to keep and to send.
#include "analyzer/report.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "analyzer/experiment.h"
#include "cli/command.h"
#include "store/error.h"

namespace swinscope::cli {
namespace fs = std::filesystem;
namespace {

struct ReportOptions {
  CommonOptions common;
  std::vector<std::string> runs;
};

std::vector<ReportPart> parts_of(const std::string& run, const CommonOptions& common) {
  if (!is_experiment(run)) return {report_part(open_run(run, common), run)};
  std::vector<ReportPart> parts = report_parts(read_experiment(run));
  for (const ReportPart& part : parts)
    print_warnings(part.document.warnings, common);
  return parts;
}

int run_report(ReportOptions options) {
  const std::string kind = fs::path(options.common.output).extension().string();
  const std::vector<std::string> kinds = {".html", ".csv", ".json", ".md"};
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: a report is no '{}' file", options.common.output, kind), {},
                "give a name that ends in .html, .csv, .json or .md");
  }
  if (kind != ".html" && options.runs.size() > 1) {
    throw Error(ErrorKind::kUsage, fmt::format("a {} report is about one run", kind.substr(1)), {},
                "give one run, or a name that ends in .html");
  }
  std::vector<ReportPart> parts;
  for (const std::string& run : options.runs) {
    for (ReportPart& part : parts_of(run, options.common)) {
      if (options.runs.size() > 1) part.prefix.insert(0, run + ": ");
      parts.push_back(std::move(part));
    }
  }
  const bool corrupt = std::any_of(parts.begin(), parts.end(), [](const ReportPart& part) { return part.corrupt; });
  if (kind == ".html") {
    write_file(options.common.output, render_html(build_report(std::move(parts))), options.common.force);
  } else {
    options.common.format = kind.substr(1);
    emit(parts.front().document, options.common);
  }
  return corrupt ? static_cast<int>(ErrorKind::kInput) : 0;
}

}  // namespace

void add_report(CLI::App& app, int& status) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand("report", "Everything about a run or an experiment in one file");
  command->add_option("RUN", options->runs, "Traces or experiments")->required();
  command->add_option("-o,--output", options->common.output, "File: .html, .csv, .json or .md")->required();
  command->add_flag("--force", options->common.force, "Replace the file if it exists");
  command->add_flag("-q,--quiet", options->common.quiet, "No warnings");
  command->callback([options, &status] { status = run_report(*options); });
}

}  // namespace swinscope::cli
