#include "collector/nvtx/range_assembler.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>
#include <utility>

#include "collector/nvtx/nvtx_emitter.h"
#include "store/utf8.h"

namespace swinscope {
namespace {

bool begins(EventKind kind) {
  return kind == EventKind::kMark || kind == EventKind::kPush || kind == EventKind::kStart;
}

// NVTX_EVENTS.binaryData: the heads of all payloads, then their bytes. Memory that was copied along is none of them.
std::string payloads_of(const NvtxEvent& event) {
  constexpr std::size_t kHeadNumbers = 4;
  std::vector<PayloadBlob> payloads;
  std::ranges::copy_if(event.blobs, std::back_inserter(payloads),
                       [](const PayloadBlob& blob) { return blob.type != kCopiedMemory; });
  std::string bytes;
  std::uint64_t offset = payloads.size() * kHeadNumbers * sizeof(std::uint64_t);
  for (const PayloadBlob& blob : payloads) {
    const std::array<std::uint64_t, kHeadNumbers> head = {event.head.domain, blob.type, blob.size, offset};
    bytes.append(reinterpret_cast<const char*>(head.data()), sizeof(head));
    offset += blob.size;
  }
  for (const PayloadBlob& blob : payloads)
    bytes.append(reinterpret_cast<const char*>(blob.data), blob.size);
  return bytes;
}

}  // namespace

NvtxEvent::NvtxEvent(const std::byte* record) {
  std::memcpy(&head, record, sizeof(head));
  std::size_t left = head.bytes - sizeof(head);
  if (left < sizeof(body)) return;
  const std::byte* at = record + sizeof(head);
  const auto skip = [&](std::size_t bytes) {
    bytes = std::min(bytes, left);
    at += bytes;
    left -= bytes;
  };
  std::memcpy(&body, at, sizeof(body));
  skip(sizeof(body));
  text = {reinterpret_cast<const char*>(at), std::min<std::size_t>(body.text_bytes, left)};
  skip(align8(body.text_bytes));
  for (std::uint16_t i = 0; i < head.blobs && left >= sizeof(BlobHead); ++i) {
    BlobHead blob;
    std::memcpy(&blob, at, sizeof(blob));
    skip(sizeof(blob));
    blobs.push_back({blob.type, blob.address, at, std::min<std::size_t>(blob.size, left)});
    skip(blob.size > left ? left : align8(blob.size));
  }
}

void RangeAssembler::add(TraceWriter& to, std::uint32_t buffer, std::uint64_t global_tid, const NvtxEvent& event) {
  beginning_ = begins(event.head.kind);
  switch (event.head.kind) {
    case EventKind::kMark:
      mark(to, global_tid, event);
      ++unflushed_;
      break;
    case EventKind::kPush:
      push(to, buffer, global_tid, event);
      break;
    case EventKind::kPop:
      pop(to, buffer, global_tid, event);
      break;
    case EventKind::kStart:
      start(to, global_tid, event);
      break;
    case EventKind::kEnd:
      end(to, global_tid, event);
      break;
    case EventKind::kGraphNode:
      add_graph_node(to, global_tid, event);
      break;
    default:
      break;
  }
  beginning_ = false;
}

void RangeAssembler::add_graph_node(TraceWriter& to, std::uint64_t global_tid, const NvtxEvent& event) const {
  GraphNodeRecord r;
  r.time_ns = event.head.time_ns - start_ns_;
  r.global_tid = global_tid;
  r.node = event.head.id;
  r.original = std::uint64_t{event.head.string} << 32U | event.head.domain;
  to.add(r);
}

void RangeAssembler::mark(TraceWriter& to, std::uint64_t global_tid, const NvtxEvent& event) {
  const Open point = open_of(to, global_tid, event);
  to.add(NvtxPayloadRecord{point.record, point.payload});
}

RangeAssembler::Open RangeAssembler::open_of(TraceWriter& to, std::uint64_t global_tid, const NvtxEvent& event) {
  Open open;
  NvtxRecord& r = open.record;
  r.start_ns = event.head.time_ns - start_ns_;
  r.global_tid = global_tid;
  r.domain = event.head.domain;
  r.category = event.body.category;
  r.color = event.body.color;
  r.is_plain = event.head.string == 0;
  r.text = !r.is_plain ? registered(to, event.head.string) : to.intern(replace_invalid_utf8(event.text));
  switch (event.head.kind) {
    case EventKind::kMark:
      r.type = NvtxType::kMark;
      break;
    case EventKind::kStart:
      r.type = NvtxType::kStartEnd;
      r.range = event.head.id;
      break;
    default:
      r.type = NvtxType::kPushPop;
      break;
  }
  set_value(r, event);
  set_payload(to, open, event);
  return open;
}

void RangeAssembler::set_value(NvtxRecord& r, const NvtxEvent& event) const {
  const std::uint64_t bits = event.body.value;
  r.value_type = event.head.value_type;
  switch (r.value_type) {
    case NvtxValueType::kNone:
      break;
    case NvtxValueType::kUint64:
    case NvtxValueType::kInt64:
      r.int64_value = static_cast<std::int64_t>(bits);
      break;
    case NvtxValueType::kDouble:
      r.double_value = std::bit_cast<double>(bits);
      break;
    case NvtxValueType::kUint32:
      r.int64_value = static_cast<std::uint32_t>(bits);
      break;
    case NvtxValueType::kInt32:
      r.int64_value = static_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
      break;
    case NvtxValueType::kFloat:
      r.double_value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      break;
  }
}

// What the payload of an end says comes on top of what that of the start said.
void RangeAssembler::set_payload(TraceWriter& to, Open& open, const NvtxEvent& event) {
  if (event.blobs.empty()) return;
  NvtxRecord& r = open.record;
  if (std::string payload = payloads_of(event); !payload.empty()) open.payload = std::move(payload);
  const auto text_of = [this](std::uint64_t handle) {
    return handle > 0xFFFFFFFFU ? std::string() : names_.string_text(static_cast<std::uint32_t>(handle));
  };
  const PayloadText payload = describe_payloads(event.blobs, event.head.domain, names_.types(), text_of);
  if (payload.message) {
    r.text = to.intern(*payload.message);
    r.is_plain = true;
  }
  if (payload.category) r.category = *payload.category;
  if (payload.color) r.color = *payload.color;
  if (!payload.json.empty()) r.json = to.intern(payload.json);
}

StringId RangeAssembler::registered(TraceWriter& to, std::uint32_t string) {
  const auto known = registered_.find(string);
  if (known != registered_.end()) return known->second;
  const StringId id = to.intern(names_.string_text(string));
  registered_.emplace(string, id);
  return id;
}

void RangeAssembler::push(TraceWriter& to, std::uint32_t buffer, std::uint64_t global_tid, const NvtxEvent& event) {
  Stack& stack = stacks_[buffer][event.head.domain];
  // A range whose end was dropped, deep down where ends have no room set aside.
  while (!stack.empty() && stack.back().level >= event.head.id) {
    store(to, stack.back());
    stack.pop_back();
  }
  stack.push_back(open_of(to, global_tid, event));
  stack.back().level = event.head.id;
}

void RangeAssembler::pop(TraceWriter& to, std::uint32_t buffer, std::uint64_t global_tid, const NvtxEvent& event) {
  Stack& stack = stacks_[buffer][event.head.domain];
  while (!stack.empty() && stack.back().level > event.head.id) {
    store(to, stack.back());
    stack.pop_back();
  }
  if (stack.empty() || stack.back().level != event.head.id) return;  // its push was dropped
  Open open = std::move(stack.back());
  stack.pop_back();
  open.record.end_global_tid = open.record.global_tid == global_tid ? 0 : global_tid;
  set_payload(to, open, event);
  close(to, open, event.head.time_ns);
}

void RangeAssembler::start(TraceWriter& to, std::uint64_t global_tid, const NvtxEvent& event) {
  Open open = open_of(to, global_tid, event);
  const auto ended = ends_.find(event.head.id);
  if (ended == ends_.end()) {
    started_.insert_or_assign(event.head.id, std::move(open));
    return;
  }
  const End end = ended->second;
  ends_.erase(ended);
  if (end.global_tid != global_tid) open.record.end_global_tid = end.global_tid;
  close(to, open, end.time_ns);
}

void RangeAssembler::end(TraceWriter& to, std::uint64_t global_tid, const NvtxEvent& event) {
  const auto found = started_.find(event.head.id);
  if (found == started_.end()) {
    ends_.insert_or_assign(event.head.id, End{event.head.time_ns, global_tid});
    return;
  }
  Open open = std::move(found->second);
  started_.erase(found);
  if (open.record.global_tid != global_tid) open.record.end_global_tid = global_tid;
  set_payload(to, open, event);
  close(to, open, event.head.time_ns);
}

void RangeAssembler::close(TraceWriter& to, Open& open, std::int64_t end_ns) {
  open.record.end_ns = end_ns - start_ns_;
  store(to, open);
}

void RangeAssembler::store(TraceWriter& to, Open& open) {
  ++unflushed_;
  if (open.row == 0) {
    to.add(NvtxPayloadRecord{open.record, open.payload});
  } else {
    to.close_open(open.row, open.record, open.payload);
  }
}

template <typename Function>
void RangeAssembler::for_each_open(Function function) {
  for (auto& [buffer, domains] : stacks_) {
    for (auto& [domain, stack] : domains) {
      for (Open& open : stack)
        function(open);
    }
  }
  for (auto& [id, open] : started_)
    function(open);
}

bool RangeAssembler::has_open() const {
  const auto is_open = [](const auto& domains) {
    return std::any_of(domains.second.begin(), domains.second.end(), [](const auto& s) { return !s.second.empty(); });
  };
  return !started_.empty() || std::any_of(stacks_.begin(), stacks_.end(), is_open);
}

void RangeAssembler::end_thread(TraceWriter& to, std::uint32_t buffer) {
  const auto found = stacks_.find(buffer);
  if (found == stacks_.end()) return;
  const auto domains = std::move(found->second);
  stacks_.erase(found);
  for (const auto& [domain, stack] : domains) {
    for (const Open& open : stack) {
      if (open.row == 0) to.add(NvtxPayloadRecord{open.record, open.payload});
    }
  }
}

std::int64_t RangeAssembler::discard(std::uint32_t buffer, const NvtxEvent& event) {
  if (begins(event.head.kind)) return 1;
  if (event.head.kind > EventKind::kEnd) return 0;
  if (event.head.kind == EventKind::kEnd) return static_cast<std::int64_t>(started_.erase(event.head.id));
  Stack& stack = stacks_[buffer][event.head.domain];
  std::int64_t lost = 0;
  for (; !stack.empty() && stack.back().level >= event.head.id; stack.pop_back())
    ++lost;
  return lost;
}

std::int64_t RangeAssembler::discard_thread(std::uint32_t buffer) {
  std::int64_t lost = 0;
  for (const auto& [domain, stack] : stacks_[buffer]) {
    for (const Open& open : stack)
      lost += open.row == 0 ? 1 : 0;
  }
  stacks_.erase(buffer);
  return lost;
}

void RangeAssembler::end_pass() {
  for (auto entry = ends_.begin(); entry != ends_.end();) {
    // By now its start would have been read: it was dropped, or is older than the recording.
    const bool give_up = entry->second.is_old;
    entry->second.is_old = true;
    entry = give_up ? ends_.erase(entry) : std::next(entry);
  }
}

void RangeAssembler::add_open(TraceWriter& to) {
  for_each_open([&](Open& open) {
    if (open.row == 0) open.row = to.add_open(open.record, open.payload);
  });
}

void RangeAssembler::flushed() {
  unflushed_ = 0;
  for_each_open([](Open& open) { open.row_is_flushed = open.row != 0; });
}

void RangeAssembler::lost() {
  unflushed_ = 0;
  beginning_ = false;
  for_each_open([](Open& open) {
    if (!open.row_is_flushed) open.row = 0;
  });
}

}  // namespace swinscope
