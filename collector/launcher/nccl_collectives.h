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
#include <string>
#include <string_view>
#include <utility>

namespace swinscope {

struct NcclSummary {
  std::int64_t kernels = 0;
  std::int64_t joined = 0;  // those that have a row now
};

// Replaces the rows of a finished file. Throws Error.
NcclSummary add_nccl_collectives(const std::filesystem::path& trace);

// "ncclAllReduce", "AllReduce" -> "allreduce"
std::string nccl_operation_name(std::string_view name);
// Bytes that a rank puts in and gets out of an operation of that name. NCCL tells those of the smaller side.
std::pair<std::int64_t, std::int64_t> nccl_traffic(std::string_view operation, std::int64_t bytes, std::int64_t ranks);

// NCCL's kernels, in the order of what caused each: thread, process, correlation, graph node and time of its launch, or
// of the capture of its node; that node as it was captured; start and end. CUPTI tells of a copied node twice, as a new
// one and as a copy: beside max() stand the values of the copy.
inline constexpr const char* kNcclKernels =
    "WITH node AS (SELECT graphNodeId, max(originalGraphNodeId) AS original, start, globalTid FROM "
    "CUDA_GRAPH_NODE_EVENTS GROUP BY graphNodeId) "
    "SELECT coalesce(o.globalTid, c.globalTid, r.globalTid), k.globalPid, k.correlationId, k.graphNodeId, "
    "coalesce(o.start, c.start, r.start) AS caused, c.original, k.start, k.end FROM CUPTI_ACTIVITY_KIND_KERNEL k "
    "LEFT JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId "
    "LEFT JOIN node c ON c.graphNodeId = k.graphNodeId LEFT JOIN node o ON o.graphNodeId = c.original "
    "WHERE k.shortName IN (SELECT id FROM StringIds WHERE value LIKE 'nccl%') GROUP BY k.rowid ORDER BY caused";

}  // namespace swinscope
