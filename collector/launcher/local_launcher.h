// Starts the ranks of a job on this machine: one process a rank, told apart by the variables that torchrun sets.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "collector/launcher/command.h"

namespace swinscope {

struct LaunchOptions {
  int ranks = 1;
  std::vector<std::string> command;                            // the first one is looked up in PATH
  std::chrono::milliseconds grace = std::chrono::seconds(10);  // from SIGTERM to SIGKILL, once a rank has failed
};

// Runs the command once for each rank with RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, MASTER_ADDR=127.0.0.1 and a
// free MASTER_PORT. When a rank fails, the others are asked to end and, after the grace time, made to. SIGINT, SIGTERM,
// SIGHUP and SIGQUIT go to all ranks, unless the terminal has sent them already. Returns 0 when all succeeded, else the
// status of the rank that failed first (128 + n when signal n ended it); that rank is named on stderr. Throws
// CommandError when the command cannot be started, and Error when there is no free port.
//
// The process must have no other children meanwhile.
int launch_local(const LaunchOptions& options);

}  // namespace swinscope
