// What a matched collective is: its kind, its process group, how many ranks that has, and how many bytes.
//
// The kind is what the source calls it, else what its kernel's name says. Bytes are as nccl-tests count them: of an
// all-gather what each rank has afterwards, of a reduce-scatter what each has before, else what each passes in. NCCL's
// own annotation tells what is passed to the call, which of those two is a rank's part. Where the source says nothing,
// bytes are not known.
//   algorithm bandwidth = bytes / transfer        bus bandwidth = algorithm bandwidth x factor
//   factor: all-reduce 2 (p - 1) / p; all-gather, reduce-scatter, all-to-all (p - 1) / p; broadcast, reduce, send/recv
//   1
// (nccl-tests, doc/PERFORMANCE.md), p being the ranks of the group.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/facts/collectives.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

enum class CollectiveKind : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kReduce,
  kAllToAll,
  kSendReceive,
  kOther,
};
std::string_view collective_kind_name(CollectiveKind kind);  // "all-reduce"

// By the name of a kernel or of a call: "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "_allgather_base".
CollectiveKind collective_kind(std::string_view name);

struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::kOther;
  std::string group;  // its ranks, else its name; "": not known
  std::optional<std::int64_t> ranks;
  std::optional<std::int64_t> bytes;
};
CollectiveCall collective_call(const Trace& trace, const CollectiveMember& member);

// Nothing where the kind or the number of ranks has none.
std::optional<double> bus_factor(CollectiveKind kind, std::int64_t ranks);

}  // namespace swinscope
