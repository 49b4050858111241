#include "cli/experiments.h"

#include <filesystem>

#include <fmt/format.h>

#include "analyzer/experiment/comparison.h"
#include "analyzer/report/documents.h"
#include "store/error.h"

namespace swinscope::cli {

std::vector<Experiment> read_experiments(const std::string& path) {
  std::vector<Experiment> experiments;
  for (const std::filesystem::path& folder : experiments_at(path))
    experiments.push_back(read_experiment(folder));
  if (!experiments.empty()) return experiments;
  std::error_code ignored;
  throw Error(ErrorKind::kInput, fmt::format("{}: no experiment", path),
              std::filesystem::exists(path, ignored) ? "neither it nor a folder in it has an experiment.json"
                                                     : "there is no such file or folder",
              "`swinscope scale`, `sweep` and `join` make experiments; `analyze` is for a single run");
}

void show_experiment(const std::filesystem::path& folder, CommonOptions options) {
  options.output.clear();
  const Document document = experiment_document(read_experiment(folder));
  print_warnings(document.warnings, options);
  emit(document, options);
}

void add_beside(Command& command, std::vector<std::string>& keys) {
  command.option("--beside", keys, "Published results to show with it, by key or its beginning: thesis")
      .separated_by(',')
      .value_name("KEY");
}

std::vector<PublishedResult> find_all_published(const std::vector<std::string>& keys) {
  std::vector<PublishedResult> found;
  for (const std::string& key : keys) {
    for (const PublishedResult& result : find_published(key))
      found.push_back(result);
  }
  return found;
}

}  // namespace swinscope::cli
