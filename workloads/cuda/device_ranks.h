// Ranks with a GPU each: which one a rank takes, how they connect by NCCL, and how they sum up gradients.
#pragma once

#include <memory>
#include <string>

#include "workloads/process_group.h"

namespace swinscope {

// Makes the GPU of this rank the current one: the one with its local number, or the only one that its launcher lets it
// see. Returns the rank with its GPU, as it is where no GPU answers at all. Throws WorkloadError (kUsage) where there
// is none for it.
RankInfo take_gpu(const RankInfo& info);

struct GpuRankOptions {
  RendezvousOptions rendezvous;
  int most_blocks = 0;  // multiprocessors that a collective operation may take; 0: as NCCL thinks best
  std::string all_reduce = kAllReduceKernels;  // or kAllReduceCopies or, for choose_all_reduce() to say, kAllReduceAuto
};

// What a rank tells the others: what its options say, but kAllReduceKernels for kAllReduceAuto where its NCCL does not
// offer copies, NCCL_P2P_DISABLE forbids GPUs to access each other (which NCCL's copies alone would not heed), or
// multiprocessors are set apart for kernels.
std::string own_all_reduce(const GpuRankOptions& options, bool nccl_offers_copies,
                           const Environment& environment = process_environment);

// How the ranks that have met sum up gradients, the same on all: kAllReduceCopies where rank 0 told so, or where there
// are several ranks, all told kAllReduceAuto, all are on one machine and each GPU can access all others; else
// kAllReduceKernels. A rank whose CUDA_VISIBLE_DEVICES hides another's GPU does not know that it can access it. Rank 0
// decides alone for a training that goes on: it has the checkpoint.
std::string choose_all_reduce(const RankMeeting& meeting);

// As connect_ranks(), after take_gpu(); choose_all_reduce() then says for what they are connected. NCCL's unique id
// goes through the folder where the ranks meet. Ranks that do not connect end after a minute, as those that are stuck
// do.
std::unique_ptr<ProcessGroup> connect_gpus(const RankInfo& info, const RankConfiguration& configuration,
                                           const GpuRankOptions& options);

}  // namespace swinscope
