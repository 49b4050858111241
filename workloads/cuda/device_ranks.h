// Ranks with a GPU each: which one a rank takes, and how they connect by NCCL.
#pragma once

#include <memory>

#include "workloads/process_group.h"

namespace swinscope {

// Makes the GPU of this rank the current one: the one with its local number, or the only one that its launcher lets it
// see. Returns the rank with its GPU, as it is where no GPU answers at all. Throws WorkloadError (kUsage) where there
// is none for it.
RankInfo take_gpu(const RankInfo& info);

struct GpuRankOptions {
  RendezvousOptions rendezvous;
  int most_blocks = 0;  // multiprocessors that a collective operation may take; 0: as NCCL thinks best
  bool copies = false;  // gradients are to be summed up by copies, see DeviceTransport::exchange()
};

// As connect_ranks(), after take_gpu(). NCCL's unique id goes through the folder where the ranks meet. Ranks that do
// not connect end after a minute, as those that are stuck do.
std::unique_ptr<ProcessGroup> connect_gpus(const RankInfo& info, const RankConfiguration& configuration,
                                           const GpuRankOptions& options);

}  // namespace swinscope
