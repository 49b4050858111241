#include "collector/segment/registration_log.h"

#include <algorithm>
#include <cstring>

namespace swinscope {
namespace {

constexpr std::size_t kUnit = 8;

std::size_t round_up(std::size_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit; }
std::uint32_t id_at(std::size_t offset) { return static_cast<std::uint32_t>(offset / kUnit) + 1; }
std::size_t offset_of(std::uint32_t id) { return (std::size_t{id} - 1) * kUnit; }

LogHead& head_at(const SegmentView& segment, std::size_t offset) {
  return *reinterpret_cast<LogHead*>(segment.log() + offset);
}

// Memory up to there, and a little more.
bool provide(const SegmentView& segment, std::size_t end) {
  constexpr std::size_t kStep = 16U << 10U;
  std::atomic<std::uint32_t>& populated = segment.header().log_populated;
  std::uint32_t before = populated.load(std::memory_order_relaxed);
  if (end <= before) return true;
  const std::size_t upto = std::min<std::size_t>((end + kStep - 1) / kStep * kStep, segment.size().log_bytes);
  if (!segment.provide(segment.log() + before, upto - before)) return false;
  while (before < upto && !populated.compare_exchange_weak(before, static_cast<std::uint32_t>(upto))) {
  }
  return true;
}

}  // namespace

RegistrationLog::Place RegistrationLog::append(LogKind kind, std::uint32_t a, std::uint32_t b,
                                               std::size_t bytes) const {
  const std::size_t size = round_up(sizeof(LogHead) + bytes);
  std::atomic<std::uint32_t>& used = segment_.header().log_used;
  std::uint32_t offset = used.load(std::memory_order_relaxed);
  do {
    if (bytes > segment_.size().log_bytes || offset + size > segment_.size().log_bytes ||
        !provide(segment_, offset + size))
      return {};
  } while (!used.compare_exchange_weak(offset, static_cast<std::uint32_t>(offset + size)));
  LogHead& head = head_at(segment_, offset);
  head.bytes.store(static_cast<std::uint32_t>(sizeof(LogHead) + bytes), std::memory_order_release);
  head.kind = kind;
  head.a = a;
  head.b = b;
  return {&head, id_at(offset)};
}

std::uint32_t RegistrationLog::add_text(LogKind kind, std::uint32_t a, std::uint32_t b, std::string_view text) const {
  const Place place = append(kind, a, b, text.size());
  if (!place) return 0;
  if (!text.empty()) std::memcpy(place.data(), text.data(), text.size());
  publish(place);
  return place.id;
}

std::optional<std::string_view> RegistrationLog::text(std::uint32_t id, LogKind kind) const {
  if (!segment_ || id == 0) return std::nullopt;
  const std::size_t offset = offset_of(id);
  const std::size_t used =
      std::min(segment_.header().log_used.load(std::memory_order_acquire), segment_.size().log_bytes);
  if (offset + sizeof(LogHead) > used) return std::nullopt;
  const LogHead& head = head_at(segment_, offset);
  const std::uint32_t bytes = head.bytes.load(std::memory_order_acquire);
  if (head.is_ready.load(std::memory_order_acquire) == 0 || head.kind != kind) return std::nullopt;
  if (bytes < sizeof(LogHead) || bytes > used - offset) return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(&head + 1), bytes - sizeof(LogHead));
}

void RegistrationLog::copy_from(const SegmentView& parent) const {
  SegmentHeader& header = segment_.header();
  const SegmentHeader& from = parent.header();
  const std::size_t used = std::min(from.log_used.load(std::memory_order_acquire), segment_.size().log_bytes);
  if (used == 0 || !provide(segment_, used)) return;
  std::memcpy(segment_.log(), parent.log(), used);
  const auto whole = static_cast<std::uint32_t>(truncate_to_whole(used));
  header.log_used.store(whole, std::memory_order_release);
  const auto copy = [&](const auto& source, auto& target) {
    for (std::size_t i = 0; i < source.size(); ++i) {
      const std::uint32_t id = source[i].load(std::memory_order_acquire);
      target[i].store(id != 0 && offset_of(id) < whole ? id : 0, std::memory_order_relaxed);
    }
  };
  copy(from.domains, header.domains);
  copy(from.strings, header.strings);
}

// Records that another thread of the parent was writing are nobody's here.
std::size_t RegistrationLog::truncate_to_whole(std::size_t used) const {
  std::size_t offset = 0;
  while (offset + sizeof(LogHead) <= used) {
    LogHead& head = head_at(segment_, offset);
    const std::size_t bytes = head.bytes.load(std::memory_order_relaxed);
    if (bytes < sizeof(LogHead) || round_up(bytes) > used - offset) break;
    if (head.is_ready.load(std::memory_order_relaxed) == 0) {
      head.kind = LogKind::kNothing;
      head.is_ready.store(1, std::memory_order_relaxed);
    }
    offset += round_up(bytes);
  }
  if (offset < used) std::memset(segment_.log() + offset, 0, used - offset);
  return offset;
}

}  // namespace swinscope
