// The functions that NCCL calls as its profiler plugin (NCCL_PROFILER_PLUGIN). Each copies what it is told into the
// lane of the calling thread, without a lock or an allocation, and says that all went well: NCCL goes on whatever
// happens here.
//
// What NCCL keeps for us (contexts, handles) is a number and no address, so nothing lives here that could be full, be
// freed too early, or belong to the parent of a forked process. Bits of a handle say what kind of event it is and, of
// a call, whether it is captured into a CUDA graph; the rest numbers it. A call's handle has the number of its group:
// so an operation, whose parent it is, knows it without looking anything up.
//
// Nothing is asked of NCCL, and nothing recorded, where nobody records (`record --trace …,nccl` does).
#pragma once

#include "collector/nccl/nccl_abi.h"

// The names are NCCL's: it looks for the newest one that it knows.
extern "C" {

__attribute__((visibility("default"))) extern const swinscope::nccl::PluginV4 ncclProfiler_v4;
__attribute__((visibility("default"))) extern const swinscope::nccl::PluginV5 ncclProfiler_v5;
__attribute__((visibility("default"))) extern const swinscope::nccl::PluginV5 ncclProfiler_v6;

}  // extern "C"
