#include "analyzer/base/memory_limit.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "analyzer/base/text.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

// As limits say it that are none.
constexpr std::uint64_t kUnlimited = std::uint64_t{1} << 62U;

std::optional<std::uint64_t> number_in(const fs::path& file) {
  std::ifstream in(file);
  std::uint64_t number = 0;
  return in >> number ? std::optional(number) : std::nullopt;
}

// Of lines such as "MemAvailable:   24040 kB" and "inactive_file 4096".
std::uint64_t number_of(const fs::path& file, std::string_view key) {
  std::ifstream in(file);
  std::string word;
  std::uint64_t number = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(key) && line.find_first_of(": ") == key.size())
      number = std::strtoull(line.c_str() + key.size() + 1, nullptr, 10);
  }
  return number;
}

// What a cgroup leaves: files that the kernel keeps in memory go when it is needed.
std::uint64_t left_in(const fs::path& group, bool is_v2) {
  const auto limit = number_in(group / (is_v2 ? "memory.max" : "memory.limit_in_bytes"));
  const auto used = number_in(group / (is_v2 ? "memory.current" : "memory.usage_in_bytes"));
  if (!limit || !used || *limit > kUnlimited) return std::numeric_limits<std::uint64_t>::max();
  const std::string of_all = is_v2 ? "" : "total_";
  const std::uint64_t files = number_of(group / "memory.stat", of_all + "inactive_file") +
                              number_of(group / "memory.stat", of_all + "active_file");
  const std::uint64_t needed = *used - std::min(*used, files);
  return *limit - std::min(*limit, needed);
}

// The least over the cgroup of this process and all above it. In a container only its own part is mounted: the top.
std::uint64_t left_in_cgroups(const fs::path& root) {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const bool is_v2 = line.starts_with("0::/");
    const std::size_t slash = line.find(":/");
    if (slash == std::string::npos || (!is_v2 && line.find(":memory:") == std::string::npos)) continue;
    const fs::path top = root / (is_v2 ? "sys/fs/cgroup" : "sys/fs/cgroup/memory");
    fs::path group = top;
    least = std::min(least, left_in(group, is_v2));
    for (const fs::path& part : fs::path(line.substr(slash + 2)))
      least = std::min(least, left_in(group /= part, is_v2));
  }
  return least;
}

std::uint64_t left_of_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t used = number_in("/proc/self/statm").value_or(0) * static_cast<std::uint64_t>(getpagesize());
  return limit.rlim_cur - std::min<std::uint64_t>(limit.rlim_cur, used);
}

}  // namespace

std::uint64_t available_memory(const fs::path& root) {
  constexpr std::uint64_t kBytesOfKb = 1024;
  const std::uint64_t of_machine = number_of(root / "proc/meminfo", "MemAvailable") * kBytesOfKb;
  const std::uint64_t least = std::min(left_in_cgroups(root), left_of_address_space());
  return std::min({of_machine == 0 ? least : of_machine, least, std::uint64_t{1} << 63U});
}

std::uint64_t memory_in_use() {
  std::ifstream in("/proc/self/statm");
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  in >> all >> resident;
  return resident * static_cast<std::uint64_t>(getpagesize());
}

MemoryLimit::MemoryLimit() : most_bytes_(memory_in_use() + available_memory() / 4 * 3) {}

void MemoryLimit::check(const std::string& path) const {
  if (memory_in_use() <= most_bytes_) return;
  throw MemoryError(ErrorKind::kFailure, fmt::format("{}: too large for the memory of this machine", path),
                    fmt::format("the program uses more than {} by now; a quarter of what was free (of the machine, the "
                                "container, by ulimit -v) is kept for what comes behind reading",
                                format_bytes(static_cast<std::int64_t>(most_bytes_))),
                    "record fewer steps, or read it where there is more memory");
}

}  // namespace swinscope
