// Who records: one `swinscope record`, told from all others, and the rank of a job that it was started for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "collector/base/identity.h"

namespace swinscope {

struct RecorderId {
  std::string host;
  std::string boot;                 // of the kernel: start_ticks count from it; empty when it is not known
  std::uint64_t pid_namespace = 0;  // in which the pid counts; 0 when it is not known
  std::int64_t pid = 0;
  std::int64_t start_ticks = 0;  // since boot; with the pid it names the process for ever

  // "host.pid.start_ticks": what the recorded processes are given in SWINSCOPE_RECORDER, and write into their files.
  std::string mark() const;
  // Whether /proc of this process tells of it.
  bool is_visible() const;
  // The process is there. Of one that is visible.
  bool is_running() const;
};

RecorderId this_recorder();

// Which job a recorder, itself a rank that a launcher started, belongs to.
struct JobPlace {
  std::optional<std::int32_t> rank;  // none: nobody says
  std::int32_t world_size = 0;       // 0: not known
  // What the launcher calls the job: "slurm JOB.STEP", "pmix NAMESPACE", "torchrun RUN MASTER:PORT"; empty: nothing.
  std::string job;
  bool is_unique = false;     // no other job has this name; torchrun's is the same again when nobody gives one
  std::int32_t restarts = 0;  // how often the launcher has started this rank before
};

// From the variables of torchrun, Open MPI, PMIx and SLURM.
JobPlace job_place_from(Lookup lookup, const void* context = nullptr);
JobPlace job_place_from_environment();

}  // namespace swinscope
