#include "mcp/root.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "store/error.h"

namespace swinscope::mcp {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMostRuns = 500;
constexpr int kDeepest = 6;

bool is_below(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

bool is_trace_name(const fs::path& file) {
  constexpr std::array<std::string_view, 5> kEnds = {".db", ".sqlite", ".json", ".json.gz", ".tar.gz"};
  const std::string name = file.filename().string();
  const bool is_of_a_folder = name == "run.json" || name == "point.json" || name == "experiment.json";
  return !is_of_a_folder && std::ranges::any_of(kEnds, [&](std::string_view end) { return name.ends_with(end); });
}

struct FoundRun {
  std::string kind;
  std::int64_t files = 0;
  std::int64_t bytes = 0;
};

bool is_folder_of_run(const fs::path& folder) {
  std::error_code none;
  return fs::exists(folder / "run.json", none) || fs::exists(folder / "rank0.db", none);
}

}  // namespace

Root::Root(const fs::path& folder) {
  std::error_code error;
  folder_ = fs::canonical(folder.empty() ? fs::path(".") : folder, error);
  if (error || !fs::is_directory(folder_, error))
    throw Error(ErrorKind::kInput, fmt::format("{}: no such folder", folder.string()), {},
                "give a folder that holds runs");
}

std::string Root::run(const std::string& named) const {
  std::error_code error;
  const fs::path path = fs::weakly_canonical(folder_ / named, error);
  if (error || !is_below(path, folder_)) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: not below {}", named, folder_.string()),
                "only runs of the served folder are read",
                "list_runs lists them; `swinscope mcp --root DIR` serves another");
  }
  if (!fs::exists(path, error))
    throw Error(ErrorKind::kInput, fmt::format("{}: no such file or folder", named), {},
                "list_runs lists what is there");
  return path.string();
}

Document Root::runs() const {
  std::map<fs::path, FoundRun> found;
  bool is_cut = false;
  std::error_code error;
  fs::recursive_directory_iterator at(folder_, fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
    std::error_code none;
    if (at.depth() >= kDeepest) at.disable_recursion_pending();
    if (!at->is_regular_file(none) || !is_trace_name(at->path())) continue;
    const fs::path parent = at->path().parent_path();
    const bool is_part = is_folder_of_run(parent);
    if (found.size() >= kMostRuns) {
      is_cut = true;
      break;
    }
    FoundRun& run = found[fs::relative(is_part ? parent : at->path(), folder_, none)];
    run.kind = is_part ? "run" : "file";
    ++run.files;
    const std::uintmax_t size = at->file_size(none);
    run.bytes += none ? 0 : static_cast<std::int64_t>(size);
  }
  Document document;
  document.schema = "list_runs";
  document.run = folder_.string();
  document.tables = {
      {"runs",
       "Runs",
       {{"run", "run"}, {"kind", "kind"}, {"files", "files", Unit::kCount}, {"bytes", "size", Unit::kBytes}},
       {}}};
  for (const auto& [path, run] : found)
    document.tables.front().rows.push_back({path.string(), run.kind, run.files, run.bytes});
  if (is_cut) document.warnings.push_back(fmt::format("only the first {} are listed", kMostRuns));
  if (found.empty()) document.finding = {"no file here has the name of a trace", "", ""};
  return document;
}

}  // namespace swinscope::mcp
