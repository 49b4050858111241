#include "collector/nvtx/nvtx_emitter.h"

#include <algorithm>
#include <csignal>
#include <cstring>

#include <nvtx3/nvToolsExtPayload.h>

#include "collector/base/clock.h"
#include "collector/base/text.h"

namespace swinscope {
namespace {

constexpr std::uint64_t kMark = 0x6e76'7478'6576'656e;
constexpr std::uint32_t kPlainBytes = ThreadBuffer::kGranule;
static_assert(sizeof(EventHead) <= ThreadBuffer::kGranule, "room for a pop is one granule");

NvtxValueType value_type_of(std::int32_t payload_type) {
  switch (payload_type) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
      return NvtxValueType::kUint64;
    case NVTX_PAYLOAD_TYPE_INT64:
      return NvtxValueType::kInt64;
    case NVTX_PAYLOAD_TYPE_DOUBLE:
      return NvtxValueType::kDouble;
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
      return NvtxValueType::kUint32;
    case NVTX_PAYLOAD_TYPE_INT32:
      return NvtxValueType::kInt32;
    case NVTX_PAYLOAD_TYPE_FLOAT:
      return NvtxValueType::kFloat;
    default:
      return NvtxValueType::kNone;
  }
}

void set_message(EventDetails& details, const nvtxEventAttributes_t& attributes) {
  switch (attributes.messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      details.text = attributes.message.ascii;
      break;
    case NVTX_MESSAGE_TYPE_UNICODE:
      details.wide_text = attributes.message.unicode;
      break;
    case NVTX_MESSAGE_TYPE_REGISTERED:
      details.string = number_of(attributes.message.registered);
      break;
    default:
      break;
  }
}

// The text that goes into the record. Wide text is sized here and converted in its place.
struct TextSize {
  explicit TextSize(const EventDetails& details) {
    if (details.string != 0) return;
    if (details.text != nullptr) {
      bytes = strnlen(details.text, kMaxTextBytes + 1);
    } else if (details.wide_text != nullptr) {
      bytes = utf8_size(details.wide_text);
    }
    is_cut = bytes > kMaxTextBytes;
    bytes = std::min(bytes, kMaxTextBytes);
  }

  std::size_t bytes = 0;
  bool is_cut = false;
};

}  // namespace

EventDetails details_of(const nvtxEventAttributes_t* attributes) {
  EventDetails details;
  if (attributes == nullptr) return details;
  set_message(details, *attributes);
  details.category = attributes->category;
  if (attributes->colorType == NVTX_COLOR_ARGB) details.color = attributes->color;
  if (attributes->payloadType == NVTX_PAYLOAD_TYPE_EXT) {
    details.payloads =
        reinterpret_cast<const nvtxPayloadData_t*>(attributes->payload.ullValue);  // NOLINT(performance-no-int-to-ptr)
    details.payload_count = attributes->reserved0 > 0 ? static_cast<std::size_t>(attributes->reserved0) : 0;
  } else {
    details.value_type = value_type_of(attributes->payloadType);
    details.value = attributes->payload.ullValue;
  }
  return details;
}

Emitter::Emitter(ThreadBuffer& buffer, const NvtxRegistry& registry) : buffer_(buffer), registry_(registry) {
  entered_ = buffer.busy == nullptr;
  if (!entered_ && is_abandoned()) {
    entered_ = true;
    buffer.repair();
  }
  if (!entered_) return;
  mark_ = kMark;
  buffer_.busy = this;
  // The handler of a signal runs on this thread: the compiler must not move the flag behind what it guards.
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

Emitter::~Emitter() {
  if (!entered_) return;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  buffer_.busy = nullptr;
  mark_ = 0;
}

// Whether the callback that has not ended is gone: its frame was left by longjmp. A handler's frames lie below its own,
// and the kernel's in between, or on a stack of their own.
__attribute__((no_sanitize("address"))) bool Emitter::is_abandoned() const {
  constexpr std::uintptr_t kSignalFrame = 512;
  const auto* other = static_cast<const Emitter*>(buffer_.busy);
  if (other->mark_ != kMark) return true;  // overwritten since
  if (frame_ + kSignalFrame < other->frame_) return false;
  stack_t stack{};
  return sigaltstack(nullptr, &stack) != 0 || (stack.ss_flags & SS_ONSTACK) == 0;
}

bool Emitter::is_usable(std::uint32_t domain, DropKind kind) {
  if (entered_ && registry_.has_domain(domain)) return true;
  buffer_.drop(kind);
  return false;
}

void Emitter::graph_node(std::uint64_t node, std::uint64_t original) {
  EventHead head;
  head.bytes = sizeof(head);
  head.kind = EventKind::kGraphNode;
  head.time_ns = monotonic_ns();
  head.id = node;
  head.domain = static_cast<std::uint32_t>(original);
  head.string = static_cast<std::uint32_t>(original >> 32U);
  if (!entered_ || !write_plain(head, buffer_.set_aside)) buffer_.drop(DropKind::kGraphNode);
}

void Emitter::nccl(std::uint32_t kind, std::uint64_t number, const void* body, std::size_t bytes,
                   std::string_view text) {
  EventHead head;
  head.bytes = static_cast<std::uint32_t>(sizeof(head) + bytes + text.size());
  head.kind = EventKind::kNccl;
  head.time_ns = monotonic_ns();
  head.id = number;
  head.domain = kind;
  std::byte* to = entered_ ? buffer_.reserve(head.bytes, buffer_.set_aside) : nullptr;
  if (to == nullptr) return buffer_.drop(DropKind::kNccl);
  std::memcpy(to, &head, sizeof(head));
  if (bytes != 0) std::memcpy(to + sizeof(head), body, bytes);
  if (!text.empty()) std::memcpy(to + sizeof(head) + bytes, text.data(), text.size());
  buffer_.commit();
}

bool Emitter::write_plain(const EventHead& head, std::size_t keep_free) {
  std::byte* to = buffer_.reserve(kPlainBytes, keep_free);
  if (to == nullptr) return false;
  std::memcpy(to, &head, sizeof(head));
  buffer_.commit();
  return true;
}

bool Emitter::write(EventHead head, const EventDetails& details, std::size_t keep_free) {
  const TextSize text(details);
  const PayloadCopy payloads(registry_.types(), head.domain, details.payloads, details.payload_count);
  EventBody body;
  body.value = details.value;
  body.category = details.category;
  body.color = details.color;
  body.text_bytes = static_cast<std::uint32_t>(text.bytes);
  body.blob_bytes = static_cast<std::uint32_t>(payloads.bytes());
  head.value_type = details.value_type;
  head.string = details.string;
  head.blobs = payloads.blobs();
  head.bytes = static_cast<std::uint32_t>(sizeof(head) + sizeof(body) + align8(text.bytes) + payloads.bytes());
  std::byte* to = buffer_.reserve(head.bytes, keep_free);
  if (to == nullptr) return false;
  std::memcpy(to, &head, sizeof(head));
  std::memcpy(to + sizeof(head), &body, sizeof(body));
  std::byte* tail = to + sizeof(head) + sizeof(body);
  if (text.bytes != 0 && details.text != nullptr) {
    std::memcpy(tail, details.text, text.bytes);
  } else if (text.bytes != 0) {
    const std::size_t used = wide_to_utf8(details.wide_text, reinterpret_cast<char*>(tail), text.bytes);
    body.text_bytes = static_cast<std::uint32_t>(used);  // less where the cut would fall into a character
    std::memcpy(to + sizeof(head), &body, sizeof(body));
  }
  payloads.write(tail + align8(text.bytes));
  buffer_.commit();
  if (text.is_cut) buffer_.drop(DropKind::kText);
  if (payloads.is_incomplete()) buffer_.drop(DropKind::kPayload);
  return true;
}

// An end with a payload; without the payload when that has no room.
bool Emitter::write_end(const EventHead& head, const nvtxPayloadData_t* payloads, std::size_t count,
                        std::size_t keep_free) {
  if (count == 0) return write_plain(head, keep_free);
  EventDetails details;
  details.payloads = payloads;
  details.payload_count = count;
  if (write(head, details, keep_free)) return true;
  buffer_.drop(DropKind::kPayload);
  return write_plain(head, keep_free);
}

void Emitter::mark(std::uint32_t domain, const EventDetails& details) {
  if (!is_usable(domain, DropKind::kMark)) return;
  EventHead head;
  head.kind = EventKind::kMark;
  head.time_ns = monotonic_ns();
  head.domain = domain;
  if (!write(head, details, buffer_.set_aside)) buffer_.drop(DropKind::kMark);
}

int Emitter::next_level(std::uint32_t domain) const {
  const bool is_known = entered_ && registry_.has_domain(domain);
  return is_known ? static_cast<int>(buffer_.depth[domain]) : NVTX_NO_PUSH_POP_TRACKING;
}

int Emitter::push(std::uint32_t domain, const EventDetails& details) {
  if (!is_usable(domain, DropKind::kRange)) return NVTX_NO_PUSH_POP_TRACKING;
  const PushStack stack = buffer_.stack(domain);
  EventHead head;
  head.kind = EventKind::kPush;
  head.id = stack.depth;
  head.domain = domain;
  head.time_ns = monotonic_ns();
  const bool is_tracked = stack.depth < PushStack::kTrackedLevels;
  const std::uint32_t for_pop = is_tracked ? kPlainBytes : 0;
  if (!write(head, details, buffer_.set_aside + for_pop)) {
    buffer_.drop(DropKind::kRange);
  } else if (is_tracked) {
    stack.recorded |= std::uint64_t{1} << stack.depth;
    buffer_.set_aside += for_pop;
  }
  return static_cast<int>(stack.depth++);
}

int Emitter::pop(std::uint32_t domain, const nvtxPayloadData_t* payloads, std::size_t payload_count) {
  const std::int64_t now_ns = monotonic_ns();
  if (!is_usable(domain, DropKind::kRangeEnd)) return NVTX_NO_PUSH_POP_TRACKING;
  const PushStack stack = buffer_.stack(domain);
  if (stack.depth == 0) return -1;  // begun before the recording, or in the parent of a forked process
  const std::uint32_t level = --stack.depth;
  EventHead head;
  head.bytes = sizeof(EventHead);
  head.kind = EventKind::kPop;
  head.id = level;
  head.domain = domain;
  head.time_ns = now_ns;
  if (level >= PushStack::kTrackedLevels) {
    if (!write_end(head, payloads, payload_count, buffer_.set_aside)) buffer_.drop(DropKind::kRangeEnd);
  } else if (const std::uint64_t bit = std::uint64_t{1} << level; (stack.recorded & bit) != 0) {
    stack.recorded &= ~bit;
    buffer_.set_aside -= kPlainBytes;
    write_end(head, payloads, payload_count, buffer_.set_aside);
  }
  return static_cast<int>(level);
}

std::uint64_t Emitter::start(std::uint32_t domain, const EventDetails& details, std::uint8_t generation) {
  if (!is_usable(domain, DropKind::kRange)) return 0;
  constexpr unsigned kGenerationShift = 56;
  constexpr unsigned kBufferShift = 40;
  EventHead head;
  head.kind = EventKind::kStart;
  head.id = (std::uint64_t{generation} << kGenerationShift) | (std::uint64_t{buffer_.number} << kBufferShift) |
            ++buffer_.next_range;
  head.domain = domain;
  head.time_ns = monotonic_ns();
  if (write(head, details, buffer_.set_aside)) return head.id;
  buffer_.drop(DropKind::kRange);
  return 0;
}

void Emitter::end(std::uint32_t domain, std::uint64_t id, const nvtxPayloadData_t* payloads,
                  std::size_t payload_count) {
  const std::int64_t now_ns = monotonic_ns();
  if (id == 0 || !is_usable(domain, DropKind::kRangeEnd)) return;
  EventHead head;
  head.bytes = sizeof(EventHead);
  head.kind = EventKind::kEnd;
  head.id = id;
  head.domain = domain;
  head.time_ns = now_ns;
  if (!write_end(head, payloads, payload_count, buffer_.set_aside)) buffer_.drop(DropKind::kRangeEnd);
}

}  // namespace swinscope
