#include "analyzer/importers/named_path.h"

#include <algorithm>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/error.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

bool is_below(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

[[noreturn]] void refuse(const fs::path& file, const std::string& name, const std::string& why) {
  throw Error(
      ErrorKind::kInput, fmt::format("{}: cannot be read", file.string()),
      fmt::format("its entry \"{}\" {}", name, why),
      "runs are read from below the experiment's folder; `swinscope join` makes an experiment of runs elsewhere");
}

// The folder, and the experiment's where it is a point of one.
fs::path home_of(const fs::path& folder) {
  std::error_code none;
  fs::path home = fs::canonical(folder, none);
  return fs::exists(home.parent_path() / "experiment.json", none) ? home.parent_path() : home;
}

}  // namespace

std::string link_mark(const fs::path& link) {
  struct stat facts {};
  if (lstat(link.c_str(), &facts) != 0 || !S_ISLNK(facts.st_mode) || facts.st_uid != geteuid()) return {};
  return fmt::format("{}-{}.{:09}", facts.st_ino, facts.st_ctim.tv_sec, facts.st_ctim.tv_nsec);
}

fs::path named_path(const fs::path& file, const std::string& name, const OwnLinks& own) {
  const fs::path entry = name;
  if (entry.is_absolute()) refuse(file, name, "is an absolute path");
  if (std::ranges::find(entry, fs::path("..")) != entry.end()) refuse(file, name, "leads out of its folder");
  std::error_code none;
  fs::path home = home_of(file.parent_path().empty() ? fs::path(".") : file.parent_path());
  fs::path at = file.parent_path();
  fs::path inner;
  for (const fs::path& part : entry) {
    at /= part;
    inner /= part;
    const auto mark = own.find(inner.string());
    if (mark != own.end() && !mark->second.empty() && mark->second == link_mark(at)) home = fs::canonical(at, none);
  }
  const fs::path real = fs::canonical(at, none);
  if (!real.empty() && !is_below(real, home))
    refuse(file, name, fmt::format("is a link to {}, and none that `swinscope join` made here", real.string()));
  return at;
}

void refuse_link_out(const fs::path& found) {
  std::error_code none;
  if (!fs::is_symlink(found, none)) return;
  const fs::path real = fs::canonical(found, none);
  const fs::path folder = found.parent_path().empty() ? fs::path(".") : found.parent_path();
  if (real.empty() || is_below(real, fs::canonical(folder, none))) return;
  throw Error(ErrorKind::kInput, fmt::format("{}: a link out of its folder", found.string()),
              fmt::format("it leads to {}, and whoever made the folder may not be who may read that", real.string()),
              "name what it leads to, or put a copy of it in its place");
}

}  // namespace swinscope
