// The callbacks' work: an event of a program, copied into its thread's lane. No exception, lock or allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "collector/nvtx/nvtx_registry.h"
#include "collector/nvtx/payload_copy.h"
#include "collector/segment/nvtx_event.h"
#include "collector/segment/thread_buffers.h"

struct nvtxEventAttributes_v2;
struct nvtxPayloadData_v1;

namespace swinscope {

// Longer names are cut, and counted.
inline constexpr std::size_t kMaxTextBytes = 4096;

// Registered strings and domains are handed to programs as these numbers in the place of pointers: any value that a
// program passes back can be checked without touching memory.
template <typename Handle>
Handle handle_of(std::uint32_t number) {
  return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(number));  // NOLINT(performance-no-int-to-ptr)
}
template <typename Handle>
std::uint32_t number_of(Handle handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  return value > 0xFFFFFFFFU ? 0xFFFFFFFFU : static_cast<std::uint32_t>(value);
}

// What a program says about an event.
struct EventDetails {
  const char* text = nullptr;          // UTF-8, or
  const wchar_t* wide_text = nullptr;  // wide, or
  std::uint32_t string = 0;            // registered
  std::uint32_t category = 0;
  std::uint32_t color = 0;
  NvtxValueType value_type = NvtxValueType::kNone;
  std::uint64_t value = 0;
  const nvtxPayloadData_v1* payloads = nullptr;
  std::size_t payload_count = 0;
};
EventDetails details_of(const nvtxEventAttributes_v2* attributes);

// For the length of one callback. Events that come from a signal handler within a callback are counted as dropped. A
// handler may also leave by longjmp: then the callback never ends, and the next one takes over.
class Emitter {
 public:
  Emitter(ThreadBuffer& buffer, const NvtxRegistry& registry);
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;
  Emitter(Emitter&&) = delete;
  Emitter& operator=(Emitter&&) = delete;
  ~Emitter();

  void mark(std::uint32_t domain, const EventDetails& details);
  // The level that the thread's next range has in the domain, from 0.
  int next_level(std::uint32_t domain) const;
  // The level of the range, from 0.
  int push(std::uint32_t domain, const EventDetails& details);
  // The level of the range that ends, -1 when none is open.
  int pop(std::uint32_t domain, const nvtxPayloadData_v1* payloads = nullptr, std::size_t payload_count = 0);
  // The id of the range, unique in the process and never 0; 0 when it was dropped. `generation` tells forks apart.
  std::uint64_t start(std::uint32_t domain, const EventDetails& details, std::uint8_t generation);
  // Not NVTX's: a node of a CUDA graph was captured here, as a copy of `original` or (0) not.
  void graph_node(std::uint64_t node, std::uint64_t original);
  // Not NVTX's either: an event of NCCL's plugin (nccl/nccl_event.h).
  void nccl(std::uint32_t kind, std::uint64_t number, const void* body, std::size_t bytes, std::string_view text);
  void end(std::uint32_t domain, std::uint64_t id, const nvtxPayloadData_v1* payloads = nullptr,
           std::size_t payload_count = 0);

 private:
  bool is_abandoned() const;
  bool is_usable(std::uint32_t domain, DropKind kind);
  bool write(EventHead head, const EventDetails& details, std::size_t keep_free);
  bool write_plain(const EventHead& head, std::size_t keep_free);
  bool write_end(const EventHead& head, const nvtxPayloadData_v1* payloads, std::size_t count, std::size_t keep_free);

  ThreadBuffer& buffer_;
  const NvtxRegistry& registry_;
  // Where the callback's frame is: `this` may be elsewhere (AddressSanitizer keeps variables on a heap of its own).
  std::uintptr_t frame_ = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  volatile std::uint64_t mark_ = 0;  // while the callback is under way
  bool entered_;
};

}  // namespace swinscope
