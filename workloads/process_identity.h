// Telling processes apart for good (process numbers are reused) and seeing whether one still runs.
#pragma once

#include <cstdint>
#include <string>

namespace swinscope {

struct ProcessIdentity {
  std::int64_t pid = 0;
  std::uint64_t start_ticks = 0;  // since boot, from /proc; 0 when it could not be read
};

ProcessIdentity identity_of(std::int64_t pid);
ProcessIdentity own_identity();

// Whether that very process runs: false for a zombie and for a new process with the same number. Only meaningful for a
// process seen from the same place (see machine_identity()).
bool is_running(const ProcessIdentity& process);

// Equal for two processes exactly if they can see each other's process numbers: the boot of the machine and the process
// namespace.
std::string machine_identity();

std::string host_name();

}  // namespace swinscope
