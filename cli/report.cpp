// swinscope report RUN… -o FILE: what the analyses say, as one file to keep and to send.
#include "analyzer/report/report.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "advisor/advised_report.h"
#include "analyzer/experiment/comparison.h"
#include "analyzer/experiment/experiment.h"
#include "analyzer/experiment/run_comparison.h"
#include "cli/command.h"
#include "cli/experiments.h"
#include "cli/selection.h"
#include "store/error.h"

namespace swinscope::cli {
namespace fs = std::filesystem;
namespace {

struct ReportOptions {
  CommonOptions common;
  std::vector<std::string> runs;
  std::vector<std::string> beside;
  SelectionOptions selection;
};

// What a folder of experiments holds is listed as if it were given.
std::vector<std::string> single_runs(const std::vector<std::string>& runs) {
  std::vector<std::string> single;
  for (const std::string& run : runs) {
    const std::vector<fs::path> experiments = experiments_at(run);
    if (experiments.empty()) single.push_back(run);
    for (const fs::path& experiment : experiments)
      single.push_back(experiment.string());
  }
  return single;
}

// `name`: beside other runs; empty: it is alone.
ReportPart run_part(const std::string& run, const std::string& name, const ReportOptions& options) {
  const Trace trace = open_run(run, options.common);
  ReportPart part = advised_report_part(trace, run, options.selection.get());
  if (!name.empty()) part.run = compared_run(trace, name, options.selection.get());
  return part;
}

std::vector<ReportPart> parts_of(const std::string& run, const std::string& name, const ReportOptions& options) {
  const CommonOptions& common = options.common;
  if (!is_experiment(run)) return {run_part(run, name, options)};
  options.selection.refuse_for(run);
  common.warn_of_class_rules();
  std::vector<ReportPart> parts = advised_report_parts(read_experiment(run));
  for (const ReportPart& part : parts)
    print_warnings(part.document.warnings, common);
  return parts;
}

// FILE.md and, where there are charts, FILE_figures/ beside it.
void write_markdown(const std::string& path, const Report& report, bool force) {
  const fs::path folder = fs::path(path).replace_extension().concat("_figures");
  const MarkdownReport markdown = render_markdown_report(report, folder.filename().string());
  write_file(path, markdown.text, force);
  std::error_code failed;
  if (!markdown.figures.empty()) fs::create_directories(folder, failed);
  if (failed) {
    throw Error(ErrorKind::kFailure, fmt::format("{}: cannot be made: {}", folder.string(), failed.message()), {},
                "the figures of the report go there: give another name with -o");
  }
  for (const MarkdownFigure& figure : markdown.figures)
    write_file((folder / figure.name).string(), figure.svg, force);
}

// The end of the file's name: what kind of report it is.
std::string kind_of(const std::string& path) {
  std::string kind = fs::path(path).extension().string();
  const std::vector<std::string> kinds = {".html", ".csv", ".json", ".md"};
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: cannot write {} reports", path, kind.empty() ? "such" : kind), {},
                "give a name that ends in .html, .csv, .json or .md");
  }
  return kind;
}

// Those that are no experiments, as `swinscope compare` calls them; empty of others, and where there is only one.
std::vector<std::string> names_of_runs(const std::vector<std::string>& paths) {
  std::vector<fs::path> runs;
  std::ranges::copy_if(paths, std::back_inserter(runs), [](const std::string& path) { return !is_experiment(path); });
  std::vector<std::string> names(paths.size());
  if (runs.size() < 2) return names;
  const std::vector<std::string> shortened = short_names(runs);
  for (std::size_t i = 0, run = 0; i < paths.size(); ++i) {
    if (run < runs.size() && runs[run] == fs::path(paths[i])) names[i] = shortened[run++];
  }
  return names;
}

std::vector<ReportPart> all_parts(const std::vector<std::string>& runs, const ReportOptions& options) {
  std::vector<ReportPart> parts;
  const std::vector<std::string> names = names_of_runs(runs);
  const std::vector<std::string> headings = short_names({runs.begin(), runs.end()});
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::string& run = runs[i];
    for (ReportPart& part : parts_of(run, names[i], options)) {
      if (runs.size() > 1) part.prefix.insert(0, headings[i] + ": ");
      parts.push_back(std::move(part));
    }
  }
  return parts;
}

int run_report(ReportOptions options) {
  const std::string& path = options.common.output;
  const std::string kind = kind_of(path);
  const bool is_for_people = kind == ".html" || kind == ".md";  // with charts, of any number of runs
  const std::vector<std::string> runs = single_runs(options.runs);
  const std::vector<PublishedResult> published = find_all_published(options.beside);
  const auto experiments = std::ranges::count_if(runs, [](const std::string& run) { return is_experiment(run); });
  if (!is_for_people && runs.size() > 1 && experiments > 0 && experiments < std::ssize(runs)) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("a {} report of several is their comparison, but these are experiments and runs", kind.substr(1)),
        {}, "give either, or a name that ends in .html or .md");
  }
  std::vector<ReportPart> parts = all_parts(runs, options);
  const bool has_experiment =
      std::ranges::any_of(parts, [](const ReportPart& part) { return part.series.has_value(); });
  if (!published.empty() && (!has_experiment || !is_for_people)) {
    throw Error(ErrorKind::kUsage, "--beside is for .html and .md reports of experiments", {},
                "`swinscope compare EXPERIMENT --beside KEY --format csv` has the tables");
  }
  const bool corrupt = std::ranges::any_of(parts, [](const ReportPart& part) { return part.corrupt; });
  add_comparison(parts, published);
  if (is_for_people) {
    const Report report = build_report(std::move(parts));
    if (kind == ".md") {
      write_markdown(path, report, options.common.force);
    } else {
      write_file(path, render_html(report), options.common.force);
    }
  } else {
    options.common.format = kind.substr(1);
    emit(parts.front().document, options.common);
  }
  return corrupt ? static_cast<int>(ErrorKind::kInput) : 0;
}

}  // namespace

void add_report(Program& program) {
  auto options = std::make_shared<ReportOptions>();
  Command& command = program.add_command("report", "Everything about a run or an experiment in one file");
  command.option("RUN", options->runs, "Traces, experiments, or a folder of experiments, which are compared")
      .required();
  command.option("-o,--output", options->common.output, "File: .html, .csv, .json or .md").required();
  add_beside(command, options->beside);
  options->selection.add_to(command);
  options->common.add_class_rules(command);
  command.flag("--force", options->common.force, "Replace the file if it exists");
  command.flag("-q,--quiet", options->common.quiet, "No warnings");
  command.does([options] { return run_report(*options); });
}

}  // namespace swinscope::cli
