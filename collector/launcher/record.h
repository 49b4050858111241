// `swinscope record`: runs a command with the collector in every process of it, and finishes the trace files after.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "collector/base/capture_window.h"
#include "collector/base/trace_options.h"
#include "collector/launcher/command.h"
#include "store/error.h"

namespace swinscope {

struct RecordOptions {
  std::filesystem::path folder;
  std::vector<std::string> command;  // the first one is looked up in PATH
  double sample_hz = 10;             // CPU time of threads and processes; 0: of processes only, once a second
  TraceOptions trace;
  WindowOptions window;             // when CUDA activity is recorded
  std::int64_t max_bytes = 0;       // of each file; 0: no limit
  bool rotates = false;             // at that size the oldest events go, else the file ends
  double gpu_metrics_hz = 0;        // NVML's and GPM's samples; 0: none
  bool torch_modules = false;       // ranges for the modules of PyTorch
  bool force = false;               // replace a run in the folder
  std::filesystem::path collector;  // the injected library; empty: find_collector()
  // Notes and warnings, one line each; by default on stderr, prefixed with "swinscope: ".
  std::function<void(const std::string&)> report;
};

struct RecordOutcome {
  bool has_started = false;                  // the command runs, or ran
  std::vector<std::filesystem::path> files;  // the trace files of this recording, and of no other in the folder
};

// The collector library: SWINSCOPE_COLLECTOR, or where it lies beside this program when built or installed. Throws
// Error.
std::filesystem::path find_collector();

// Runs the command and returns its exit status; 128 + n when signal n ended it. Returns when the last process that the
// command started has ended, too. SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 go to the command, unless the
// terminal has sent them to it already; once the command has ended, SIGINT and SIGTERM end the wait for what it left
// behind. Throws Error before the command runs (CommandError, folder in use); never after. Any number of processes may
// record into one folder (run_claim.h).
//
// The process must have no other children meanwhile: it becomes the parent of those that the command leaves behind.
int record(const RecordOptions& options, RecordOutcome* outcome = nullptr);

}  // namespace swinscope
