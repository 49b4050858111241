// What a trace tells of the job it is of: how many GPUs or ranks it had, and whether these had cores enough.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/trace/trace.h"

namespace swinscope {

// Whether a rank used CUDA, recorded or not.
bool uses_gpus(const Trace& trace);

// The numbers of GPUs (without any: of ranks) that the job may have had. They are a range where GPUs cannot be told
// apart: each of two processes that saw one device may have had its own.
struct JobSize {
  std::int64_t ranks = 0;   // as the world size says, at least those that are there
  std::int64_t fewest = 0;  // GPUs
  std::int64_t most = 0;
  bool has_gpus = false;
  bool may_have(std::int64_t count) const { return count >= fewest && count <= most; }
};
JobSize job_size(const Trace& trace);
// The same where the trace tells: of ranks that recorded nothing by what `record` saw of their processes; else nothing.
std::optional<JobSize> known_job_size(const Trace& trace);
// "2 ranks on 2 GPUs", "1 rank"
std::string describe(const JobSize& job);

// More threads at work on a host than it has cores for: the step times are those of crowded cores.
struct Crowding {
  std::string host;
  std::int64_t ranks = 0;
  std::int64_t threads = 1;  // of a rank: OMP_NUM_THREADS of a run without GPUs
  double cores = 0;          // allowed by affinity and cgroup, as the recorded environment says
};
// The host with the most threads for a core; nothing where all have cores enough, or none says how many.
std::optional<Crowding> crowding(const Trace& trace);

}  // namespace swinscope
