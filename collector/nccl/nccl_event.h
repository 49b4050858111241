// What the NCCL plugin tells, on its way from a program's thread to the reader: the bytes in a lane
// (segment/nvtx_event.h) of an event of the kind kNccl, whose head has the kind below in `domain` and the number of
// what begins or ends in `id`.
//
//   head | NcclOperation or NcclCommunicator | text       texts one after the other, each ends with a zero
//   head | NcclLaunch or NcclChannel
//   head | the GPU's time                                 the end of a channel; other ends are a head alone
//
// A beginning and its end may come through the lanes of different threads, in any order.
#pragma once

#include <cstdint>

#include "store/records.h"

namespace swinscope {

inline constexpr const char* kNcclEvent = "event of NCCL's plugin";  // of those that were lost

enum class NcclEventKind : std::uint32_t {
  kCommunicator = 1,
  kCommunicatorEnd,
  kOperation,
  kOperationEnd,
  kLaunch,
  kLaunchEnd,
  kChannel,
  kChannelEnd,
};

// Text: the name that the program gave.
struct NcclCommunicator {
  std::uint64_t hash;
  std::int32_t rank;
  std::int32_t ranks;
  std::int32_t nodes;
};

// Text: function, type of the elements, algorithm, protocol.
struct NcclOperation {
  std::uint64_t communicator;  // numbers of events; 0: unknown
  std::uint64_t plan;
  std::uint64_t call_group;
  std::uint64_t count;
  std::int64_t sequence;  // -1: none
  std::int32_t peer;
  std::int32_t channels;     // -1: unknown
  std::int32_t is_captured;  // -1: unknown
  NcclOperationKind kind;
};

struct NcclLaunch {
  std::uint64_t communicator;
  std::uint64_t call_group;
};

struct NcclChannel {
  std::uint64_t operation;
  std::uint64_t timer;
  std::int32_t channel;
};

}  // namespace swinscope
