// Processes as /proc shows them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <sys/types.h>

namespace swinscope {

struct ProcessStat {
  pid_t pid = 0;
  pid_t parent = 0;
  char state = '?';               // Z: ended, not waited for yet
  std::uint64_t start_ticks = 0;  // since boot; with the pid it names a process for ever
  std::int64_t cpu_ns = 0;        // user and system time of all its threads
  std::int64_t children_ns = 0;   // of the children that it has waited for, and theirs
  std::int64_t rss_bytes = 0;
  std::string name;
};

// The text of /proc/<pid>/stat; nothing when it is none.
std::optional<ProcessStat> parse_process_stat(std::string_view text);
std::optional<ProcessStat> read_process_stat(pid_t pid);

// When a process began, as CLOCK_MONOTONIC; the kernel tells it to a hundredth of a second.
std::int64_t monotonic_start_ns(std::uint64_t start_ticks);

// Finds the processes below one process again and again.
class ProcessScanner {
 public:
  explicit ProcessScanner(pid_t root) : root_(root) {}

  // All processes below the root, in any order, without itself. Those whose parent has ended count while the kernel
  // gives them to the root or to a process below it (PR_SET_CHILD_SUBREAPER).
  std::vector<ProcessStat> scan();

 private:
  pid_t root_;
  // Other people's processes: looked at once, and again from time to time, since ids are used again.
  std::unordered_set<pid_t> foreign_;
  int scans_ = 0;
};

}  // namespace swinscope
