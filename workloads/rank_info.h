// Which rank this process is, as its launcher says through the environment.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace swinscope {

// How GPUs sum up gradients: by NCCL's kernels, by copies, or by copies where all ranks can.
inline constexpr const char* kAllReduceKernels = "kernels";
inline constexpr const char* kAllReduceCopies = "copies";
inline constexpr const char* kAllReduceAuto = "auto";

// A GPU: its number in this process, and its name in the world (cuda::device_unique_id()); empty for none.
struct RankGpu {
  int index = -1;
  std::string id;
  std::vector<std::string> accessible = {};    // the names of those whose memory it can access
  std::string all_reduce = kAllReduceKernels;  // what this rank wants or can, see choose_all_reduce()
};

struct RankInfo {
  int rank = 0;
  int size = 1;
  int local_rank = 0;
  // For messages: "torchrun", "Open MPI", "Slurm"; empty for a process started alone.
  std::string launcher;
  RankGpu gpu = {};  // that it computes on
};

// The value of an environment variable, or null.
using Environment = std::function<const char*(const char* name)>;
const char* process_environment(const char* name);

// RANK, WORLD_SIZE, LOCAL_RANK (torchrun and our own launcher); else OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK (mpirun);
// else SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID (srun); else one rank alone. A missing local rank is the rank.
//
// Throws WorkloadError (kUsage) when one of rank and size is set without the other, is no number, or the rank is not
// below the size.
RankInfo discover_rank(const Environment& environment = process_environment);

// A name that the ranks of one launch share and other launches running on this machine do not: what the launcher says
// about its job and address or, where it says nothing, the login session that all ranks were started from.
std::string launch_key(const Environment& environment = process_environment);

}  // namespace swinscope
