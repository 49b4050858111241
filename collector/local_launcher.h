// Starts the ranks of a job on this machine: one process a rank, told apart by the variables that torchrun sets.
#pragma once

#include <string>
#include <vector>

namespace swinscope {

// Runs `command` `ranks` times with RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, MASTER_ADDR=127.0.0.1 and a free
// MASTER_PORT. When a rank fails, the others are asked to end (SIGTERM) and, after ten seconds, made to (SIGKILL).
// SIGINT and SIGTERM are passed on. Returns 0 when all succeeded, else the status of the rank that failed first, as a
// shell gives it (128 + signal when killed); that rank is named on stderr. Throws Error when a process cannot be
// started.
int launch_local(int ranks, const std::vector<std::string>& command);

}  // namespace swinscope
