// swinscope report RUN… -o FILE | --bundle FOLDER: what the analyses say, as one file to keep and to send, or as the
// figures and tables that papers and slides are made of.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <sys/wait.h>

#include "advisor/advised_report.h"
#include "analyzer/experiment/comparison.h"
#include "analyzer/experiment/experiment.h"
#include "analyzer/experiment/quality.h"
#include "analyzer/experiment/run_comparison.h"
#include "analyzer/report/report_files.h"
#include "cli/command.h"
#include "cli/experiments.h"
#include "cli/quality_file.h"
#include "cli/selection.h"
#include "collector/launcher/command.h"
#include "store/error.h"

namespace swinscope::cli {
namespace fs = std::filesystem;
namespace {

struct ReportOptions {
  CommonOptions common;
  std::vector<std::string> runs;
  std::vector<std::string> beside;
  std::string bundle;
  std::string author;
  std::string quality;
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

// Below the folder, which is there.
void write_files(const fs::path& folder, const std::vector<ReportFile>& files, bool force) {
  for (const ReportFile& file : files) {
    const fs::path path = folder / file.name;
    std::error_code failed;
    if (path.has_parent_path()) fs::create_directories(path.parent_path(), failed);
    if (failed) {
      throw Error(ErrorKind::kFailure,
                  fmt::format("{}: cannot be made: {}", path.parent_path().string(), failed.message()), {},
                  "files of the report go there: give another name");
    }
    write_file(path.string(), file.content, force);
  }
}

// Each figure as PDF beside its SVG, by librsvg's program, where that is installed.
void write_pdf_figures(const fs::path& folder, const std::vector<ReportFile>& files, const CommonOptions& common) {
  fs::path converter;
  try {
    converter = find_command("rsvg-convert");
  } catch (const CommandError&) {
    print_warnings(
        {"the figures are SVG only: rsvg-convert, which makes PDF of them, is not installed (Debian and Ubuntu: "
         "librsvg2-bin)"},
        common);
    return;
  }
  sigset_t none;
  sigemptyset(&none);
  for (const ReportFile& file : files) {
    const fs::path svg = folder / file.name;
    if (svg.extension() != ".svg") continue;
    const fs::path pdf = fs::path(svg).replace_extension(".pdf");
    // Of one date, so that the same run gives the same file.
    const pid_t child =
        spawn_command(converter, {converter, "-f", "pdf", "-o", pdf, "--", svg}, {{"SOURCE_DATE_EPOCH", "0"}}, none);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0) print_warnings({fmt::format("{}: not made: {} failed", pdf.string(), converter.string())}, common);
  }
}

// Nothing of what is in it would be lost unless --force says so.
void refuse_full_folder(const fs::path& folder, bool force) {
  std::error_code ignored;
  if (force || !fs::exists(folder, ignored) || (fs::is_directory(folder, ignored) && fs::is_empty(folder, ignored)))
    return;
  throw Error(ErrorKind::kUsage, fmt::format("{}: is there and not empty", folder.string()), {},
              "give another folder with --bundle, or --force to replace files in it");
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

void add_quality_of(const std::string& file, std::vector<ReportPart>& parts) {
  const Quality quality = read_quality(file);
  std::size_t found = 0;
  for (ReportPart& part : parts)
    if (add_quality(quality, part.document)) ++found;
  if (found > 0) return;
  throw Error(ErrorKind::kUsage, fmt::format("--quality: no experiment of the report has points by {}", quality.factor),
              "", "the first line of the file names what was swept, as `swinscope sweep --vary` did");
}

void refuse_mixture(const std::vector<std::string>& runs, std::string_view kind) {
  const auto experiments = std::ranges::count_if(runs, [](const std::string& run) { return is_experiment(run); });
  if (runs.size() < 2 || experiments == 0 || experiments == std::ssize(runs)) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("a {} report of several is their comparison, but these are experiments and runs", kind), {},
              "give either, or a name that ends in .html or .md");
}

int run_report(const ReportOptions& options) {
  const std::string& path = options.common.output;
  const bool is_bundle = !options.bundle.empty();
  if (is_bundle == !path.empty()) {
    throw Error(ErrorKind::kUsage, is_bundle ? "-o and --bundle exclude each other" : "where to is not said", {},
                "give -o FILE for one file, or --bundle FOLDER for its figures and tables, too");
  }
  const std::string kind = is_bundle ? "" : report_kind(path);
  const bool is_for_people = kind != ".csv" && kind != ".json";  // with charts, of any number of runs
  if (is_bundle) refuse_full_folder(options.bundle, options.common.force);
  const std::vector<std::string> runs = single_runs(options.runs);
  const std::vector<PublishedResult> published = find_all_published(options.beside);
  if (!is_for_people) refuse_mixture(runs, kind.substr(1));
  std::vector<ReportPart> parts = all_parts(runs, options);
  if (!options.quality.empty()) add_quality_of(options.quality, parts);
  const bool has_experiment =
      std::ranges::any_of(parts, [](const ReportPart& part) { return part.series.has_value(); });
  if (!published.empty() && (!has_experiment || !is_for_people)) {
    throw Error(ErrorKind::kUsage, "--beside is for .html and .md reports and bundles of experiments", {},
                "`swinscope compare EXPERIMENT --beside KEY --format csv` has the tables");
  }
  const bool corrupt = std::ranges::any_of(parts, [](const ReportPart& part) { return part.corrupt; });
  add_comparison(parts, published);
  parts.front().author = options.author;
  if (!is_for_people && !options.author.empty())
    print_warnings({fmt::format("--author: {} reports have no first page that could name it", kind)}, options.common);
  if (is_bundle) {
    const std::vector<ReportFile> files = report_bundle(std::move(parts));
    write_files(options.bundle, files, options.common.force);
    write_pdf_figures(options.bundle, files, options.common);
  } else {
    write_files({}, report_files(std::move(parts), path), options.common.force);
  }
  return corrupt ? static_cast<int>(ErrorKind::kInput) : 0;
}

}  // namespace

void add_report(Program& program) {
  auto options = std::make_shared<ReportOptions>();
  Command& command = program.add_command("report", "Everything about a run or an experiment in one file");
  command.option("RUN", options->runs, "Traces, experiments, or a folder of experiments, which are compared")
      .required();
  command.option("-o,--output", options->common.output, "File: .html, .csv, .json or .md");
  command.option("--bundle", options->bundle,
                 "Folder: the report with its figures as SVG (and PDF, where rsvg-convert is installed), and its "
                 "tables as CSV and LaTeX");
  command.option("--author", options->author, "Name on the first page of an .html or .md report");
  command
      .option(
          "--quality", options->quality,
          "How good the results of the points are, measured elsewhere, on one chart with their speed. First line: what "
          "was swept and the measure, such as precision,top-1 [%]; then one for each measurement, such as fp8,77.2")
      .value_name("FILE.csv");
  add_beside(command, options->beside);
  options->selection.add_to(command);
  options->common.add_class_rules(command);
  command.flag("--force", options->common.force, "Replace files that exist");
  command.flag("-q,--quiet", options->common.quiet, "No warnings");
  command.does([options] { return run_report(*options); });
}

}  // namespace swinscope::cli
