// NVTX events on their way from a program's thread to the reader: the bytes in a lane (thread_buffers.h).
//
//   head | body | text | blobs          each part on a multiple of 8 bytes; a plain pop or end is a head alone
//
// A blob is a BlobHead and its bytes: one payload of the event, or memory that a payload points to.
#pragma once

#include <cstddef>
#include <cstdint>

#include "store/records.h"

namespace swinscope {

enum class EventKind : std::uint8_t {
  kMark = 1,
  kPush,
  kPop,
  kStart,
  kEnd,
  kGraphNode,  // no NVTX event, but it has to stand in order with those of its thread
  kThread,     // what follows is of the thread with this id
  kRecord,     // a part of a stream of the trace's records (record_stream.h); its kind is in `domain`
  kNccl,       // told by NCCL's plugin (nccl/nccl_event.h); its kind is in `domain`
};

struct EventHead {
  std::uint32_t bytes = 0;  // of the whole event
  EventKind kind = EventKind::kMark;
  NvtxValueType value_type = NvtxValueType::kNone;
  std::uint16_t blobs = 0;
  std::int64_t time_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t id = 0;      // push and pop: the level, from 0; start and end: the range's id; the graph node
  std::uint32_t domain = 0;  // of a graph node: the low half of the node that it is a copy of
  std::uint32_t string = 0;  // registered string, 0: the text follows; of a graph node: the high half
};
static_assert(sizeof(EventHead) == 32);

struct EventBody {
  std::uint64_t value = 0;  // the bits, as value_type says
  std::uint32_t category = 0;
  std::uint32_t color = 0;
  std::uint32_t text_bytes = 0;
  std::uint32_t blob_bytes = 0;
};

struct BlobHead {
  std::uint64_t type = 0;     // the payload's schema, or kCopiedMemory
  std::uint64_t address = 0;  // where it was in the program, so that pointers to it can be followed
  std::uint64_t size = 0;
};

// Not a payload of its own; the value is none that NVTX uses.
inline constexpr std::uint64_t kCopiedMemory = ~std::uint64_t{0};

constexpr std::size_t align8(std::size_t bytes) { return (bytes + 7) & ~std::size_t{7}; }

}  // namespace swinscope
