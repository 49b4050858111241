#include "workloads/process_identity.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

namespace swinscope {
namespace {

struct ProcessStat {
  char state = '?';
  std::uint64_t start_ticks = 0;
};

// proc(5): "pid (name) state ppid ... starttime ..."; the name may hold anything, so fields count from the last ')'.
bool read_stat(std::int64_t pid, ProcessStat& stat) {
  constexpr int kFieldsBetween = 18;  // between the state (3) and the start time (22)
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  if (!std::getline(file, line)) return false;
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return false;
  std::istringstream fields(line.substr(name_end + 1));
  fields >> stat.state;
  std::string skipped;
  for (int i = 0; i < kFieldsBetween; ++i)
    fields >> skipped;
  fields >> stat.start_ticks;
  return !fields.fail();
}

}  // namespace

ProcessIdentity identity_of(std::int64_t pid) {
  ProcessStat stat;
  read_stat(pid, stat);
  return {pid, stat.start_ticks};
}

ProcessIdentity own_identity() { return identity_of(::getpid()); }

bool is_running(const ProcessIdentity& process) {
  ProcessStat stat;
  if (!read_stat(process.pid, stat)) return false;
  return stat.start_ticks == process.start_ticks && stat.state != 'Z' && stat.state != 'X';
}

std::string machine_identity() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(file, boot);
  std::error_code error;
  const std::filesystem::path space = std::filesystem::read_symlink("/proc/self/ns/pid", error);
  return host_name() + "/" + boot + "/" + space.string();
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

}  // namespace swinscope
