#include "cli/runs.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyzer/importers/open.h"
#include "store/error.h"

namespace swinscope::cli {
namespace fs = std::filesystem;
namespace {

// The last parts of the paths where they tell all of them apart, else the whole paths.
std::vector<std::string> short_names(const std::vector<fs::path>& paths) {
  std::vector<std::string> names;
  std::vector<std::string> whole;
  for (const fs::path& path : paths) {
    const fs::path normal = path.lexically_normal();
    names.push_back((normal.has_filename() ? normal : normal.parent_path()).filename().string());
    whole.push_back(path.string());
  }
  return std::set(names.begin(), names.end()).size() == names.size() ? names : whole;
}

}  // namespace

int show_runs(const std::vector<fs::path>& runs, RunOrder order, const Selection& selection,
              const CommonOptions& options) {
  const std::vector<std::string> names = short_names(runs);
  std::vector<ComparedRun> compared;
  std::vector<std::string> paths;
  std::vector<std::string> unreadable;
  OpenOptions how;
  how.cancel = &interrupted();
  how.class_rules = options.class_rules();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    paths.push_back(runs[i].string());
    try {
      compared.push_back(compared_run(open_trace(runs[i], how), names[i], selection));
    } catch (const Error& error) {
      const bool is_last_chance = compared.size() + runs.size() - i - 1 < 2;
      if (error.kind() != ErrorKind::kInput || is_last_chance) throw;
      unreadable.push_back(fmt::format("{} ({})", error.what(), error.cause()));
    }
  }
  const bool is_corrupt = !unreadable.empty() || std::ranges::any_of(compared, &ComparedRun::corrupt);
  Document document = runs_document(std::move(compared), order);
  document.run = fmt::format("{}", fmt::join(paths, " "));
  document.warnings.insert(document.warnings.end(), unreadable.begin(), unreadable.end());
  print_warnings(document.warnings, options);
  emit(document, options);
  return is_corrupt ? static_cast<int>(ErrorKind::kInput) : 0;
}

}  // namespace swinscope::cli
