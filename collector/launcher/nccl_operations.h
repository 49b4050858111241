// What NCCL's profiler plugin told, joined to the kernels of a finished file (nccl_plans.h says which): fills
// correlationId and graphNodeId of SWINSCOPE_NCCL_OPERATION, times of SWINSCOPE_NCCL_CHANNEL on the trace's clock, and
// SWINSCOPE_COLLECTIVE, with the sequence number by which the analyses match the ranks: of communicators all of whose
// kernels outside of graphs are joined. Else ranks are matched by order, as without the plugin.
//
// Sends and receives have no number of NCCL's. In a communicator of two ranks they are numbered here, in their order,
// which is the same on both: NCCL pairs them so. Not where events of the plugin were lost.
//
// The GPU's timer and the trace's clock: let a kernel last from K to K + k, and its channels, by the timer, from c to
// c + n. They ran within the kernel, so that an offset puts c between K and K + (k - n). The one in the middle is
// taken; it is off by (k - n) / 2 at most: microseconds, anew for each kernel, so that nothing is said of how the
// clocks drift. Where n is larger than k by more than two steps of a timer of 1 us they are not of that kernel, and
// have no times: NCCL (2.28) keeps the times of 64 launches of a channel, and where kernels come faster than its proxy
// thread reads them, it tells those of others.
#pragma once

#include <cstdint>
#include <filesystem>

namespace swinscope {

struct NcclOperations {
  std::int64_t told = 0;     // collectives, sends and receives that kernels carry out
  std::int64_t kernels = 0;  // of NCCL, whose launch was recorded
  std::int64_t joined = 0;   // kernels of which it is known what they carry out
};

// Of a finished file; again if need be. Throws Error.
NcclOperations join_nccl_operations(const std::filesystem::path& trace);

}  // namespace swinscope
