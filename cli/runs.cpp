#include "cli/runs.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyzer/importers/open.h"
#include "store/error.h"

namespace swinscope::cli {
namespace fs = std::filesystem;

bool OpenedRuns::is_damaged() const { return !unreadable.empty() || std::ranges::any_of(runs, &ComparedRun::corrupt); }

OpenedRuns open_runs(const std::vector<fs::path>& runs, const Selection& selection, const CommonOptions& options) {
  const std::vector<std::string> names = short_names(runs);
  OpenedRuns opened;
  OpenOptions how;
  how.cancel = &interrupted();
  how.class_rules = options.class_rules();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    opened.paths.push_back(runs[i].string());
    try {
      opened.runs.push_back(compared_run(open_trace(runs[i], how), names[i], selection));
    } catch (const Error& error) {
      const bool is_last_chance = opened.runs.size() + runs.size() - i - 1 < 2;
      if (error.kind() != ErrorKind::kInput || is_last_chance) throw;
      opened.unreadable.push_back(fmt::format("{} ({})", error.what(), error.cause()));
    }
  }
  return opened;
}

int show_runs(const OpenedRuns& opened, const RunsOptions& how, const CommonOptions& options) {
  Document document = runs_document(opened.runs, how);
  document.run = fmt::format("{}", fmt::join(opened.paths, " "));
  document.warnings.insert(document.warnings.end(), opened.unreadable.begin(), opened.unreadable.end());
  print_warnings(document.warnings, options);
  emit(document, options);
  return opened.is_damaged() ? static_cast<int>(ErrorKind::kInput) : 0;
}

}  // namespace swinscope::cli
