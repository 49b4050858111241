#include "collector/base/process_stat.h"

#include <memory>
#include <unordered_map>

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include "collector/base/clock.h"
#include "collector/base/proc_files.h"
#include "store/utf8.h"

namespace swinscope {
namespace {

constexpr int kScansPerForeignLook = 20;

std::int64_t ns_per_tick() {
  static const std::int64_t ns = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  return ns;
}

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  // pid (name) state ppid …: the name may hold blanks and parentheses, so the last one counts.
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open || open == 0)
    return std::nullopt;
  const auto fields = words_of(text.substr(close + 1));
  // Numbered as in proc(5), where the state is field 3.
  const auto field = [&](std::size_t number) -> std::optional<std::int64_t> {
    return number - 3 < fields.size() ? parse_integer(fields[number - 3]) : std::nullopt;
  };
  const auto pid = parse_integer(text.substr(0, open - 1));
  const auto parent = field(4);
  const auto user = field(14);
  const auto system = field(15);
  const auto children_user = field(16);
  const auto children_system = field(17);
  const auto start = field(22);
  const auto rss = field(24);
  if (!pid || !parent || !user || !system || !children_user || !children_system || !start || !rss) return std::nullopt;
  ProcessStat stat;
  stat.pid = static_cast<pid_t>(*pid);
  stat.parent = static_cast<pid_t>(*parent);
  stat.state = fields[0].front();
  stat.start_ticks = static_cast<std::uint64_t>(*start);
  stat.cpu_ns = (*user + *system) * ns_per_tick();
  stat.children_ns = (*children_user + *children_system) * ns_per_tick();
  stat.rss_bytes = *rss * sysconf(_SC_PAGESIZE);
  stat.name = replace_invalid_utf8(text.substr(open + 1, close - open - 1));
  return stat;
}

std::optional<ProcessStat> read_process_stat(pid_t pid) {
  return parse_process_stat(read_small_file(fmt::format("/proc/{}/stat", pid)));
}

std::int64_t monotonic_start_ns(std::uint64_t start_ticks) {
  const std::int64_t suspended_ns = clock_ns(CLOCK_BOOTTIME) - monotonic_ns();
  return static_cast<std::int64_t>(start_ticks) * ns_per_tick() - suspended_ns;
}

std::vector<ProcessStat> ProcessScanner::scan() {
  if (scans_++ % kScansPerForeignLook == 0) foreign_.clear();
  std::vector<ProcessStat> read;
  std::unordered_map<pid_t, pid_t> parents;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc"), &closedir);
  if (folder == nullptr) return read;
  while (const dirent* entry =
             readdir(folder.get())) {  // NOLINT(concurrency-mt-unsafe): the stream is this function's own
    const auto number = parse_integer(entry->d_name);
    const auto pid = static_cast<pid_t>(number.value_or(0));
    if (pid == 0 || pid == root_ || foreign_.count(pid) != 0) continue;
    if (auto stat = read_process_stat(pid)) {
      parents.emplace(pid, stat->parent);
      read.push_back(std::move(*stat));
    }
  }
  std::vector<ProcessStat> below;
  for (ProcessStat& stat : read) {
    // Up the chain of parents; a parent that was not read is the root or somebody else's.
    pid_t at = stat.parent;
    std::size_t steps = 0;
    for (auto up = parents.find(at); up != parents.end() && steps <= parents.size(); up = parents.find(at), ++steps)
      at = up->second;
    if (at == root_) {
      below.push_back(std::move(stat));
    } else {
      foreign_.insert(stat.pid);
    }
  }
  return below;
}

}  // namespace swinscope
