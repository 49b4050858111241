#include "collector/launcher/hub_folder.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/base/proc_files.h"
#include "collector/base/process_stat.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

constexpr const char* kMemory = "/dev/shm";
constexpr const char* kPrefix = "swinscope-";

std::uint64_t start_ticks_of(pid_t pid) {
  const auto stat = read_process_stat(pid);
  return stat ? stat->start_ticks : 0;
}

// Ids of processes mean something within one namespace only, and this memory may be shared by several.
std::string pid_namespace() {
  std::error_code error;
  std::string text = fs::read_symlink("/proc/self/ns/pid", error).string();
  text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c < '0' || c > '9'; }), text.end());
  return text;
}

std::string prefix() { return fmt::format("{}{}-{}-", kPrefix, geteuid(), pid_namespace()); }

bool make_folder(const fs::path& path, mode_t mode) {
  return mkdir(path.c_str(), mode) == 0 && chmod(path.c_str(), mode) == 0;  // whatever the umask
}

std::optional<HubFolder> make_in(const fs::path& folder) {
  std::string base = (folder / fmt::format("{}{}-{}-XXXXXX", prefix(), getpid(), start_ticks_of(getpid()))).string();
  if (mkdtemp(base.data()) == nullptr) return std::nullopt;
  std::random_device random;
  const std::string key = fmt::format("{:08x}{:08x}", random(), random());
  HubFolder made{base, fs::path(base) / ("r-" + key), fs::path(base) / ("n-" + key)};
  constexpr mode_t kPassable = 0711;
  constexpr mode_t kPrivate = 0700;
  constexpr mode_t kLetterBox = 01733;
  if (make_folder(made.rings, kPrivate) && make_folder(made.notes, kLetterBox) && chmod(base.c_str(), kPassable) == 0)
    return made;
  std::error_code ignored;
  fs::remove_all(base, ignored);
  return std::nullopt;
}

}  // namespace

std::optional<HubFolder> make_hub_folder(const fs::path& fallback) {
  std::optional<HubFolder> made = make_in(kMemory);
  if (!made) made = make_in(fs::absolute(fallback));
  return made;
}

void remove_abandoned_hub_folders() {
  const std::string mine = prefix();
  for (const std::string& name : names_in(kMemory)) {
    if (name.rfind(mine, 0) != 0) continue;
    const std::string rest = name.substr(mine.size());
    const std::size_t dash = rest.find('-');
    const auto pid = parse_integer(rest.substr(0, dash));
    const auto ticks = dash == std::string::npos
                           ? std::nullopt
                           : parse_integer(rest.substr(dash + 1, rest.find('-', dash + 1) - dash - 1));
    if (!pid || !ticks) continue;
    const std::uint64_t now = start_ticks_of(static_cast<pid_t>(*pid));
    struct stat info = {};
    const fs::path folder = fs::path(kMemory) / name;
    const bool is_own = lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid();
    std::error_code ignored;
    if (is_own && now != static_cast<std::uint64_t>(*ticks)) fs::remove_all(folder, ignored);
  }
}

}  // namespace swinscope
