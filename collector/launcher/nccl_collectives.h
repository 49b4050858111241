// Which collective operation a kernel of NCCL carries out, from the payloads of NCCL's own NVTX ranges:
// SWINSCOPE_COLLECTIVE.
//
// NCCL names the communicator and the bytes of a message in the range of each call (ncclAllReduce…). The kernel was
// launched, or captured into a CUDA graph, within that range; or within the ncclGroupEnd that follows the calls of a
// group, which launches fewer kernels than there were calls when NCCL fuses them. Source: NCCL 2.24 and newer,
// src/include/nvtx_payload_schemas.h.
#pragma once

#include <cstdint>
#include <filesystem>

namespace swinscope {

struct NcclSummary {
  std::int64_t kernels = 0;
  std::int64_t joined = 0;  // those that have a row now
};

// Replaces the rows of a finished file. Throws Error.
NcclSummary add_nccl_collectives(const std::filesystem::path& trace);

}  // namespace swinscope
