// The part of a segment that holds what a program registered once, as records one after the other; and a record's
// parts. Any thread of the program may append (no lock, no allocation); a reader follows. A record's id says where it
// is, so that it can be found without reading those before it; a forked child copies the whole and keeps the ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "collector/segment/segment.h"

namespace swinscope {

enum class LogKind : std::uint16_t {
  kNothing,      // its writer was interrupted for ever
  kString,       // text
  kDomain,       // a: its number; text
  kCategory,     // a: domain, b: category; text
  kThreadName,   // a: the thread's id; text
  kSchema,       // see PayloadType
  kEnum,         // the same
  kCommandLine,  // as in /proc
  kVariable,     // NAME=value
};

struct LogHead {
  std::atomic<std::uint32_t> bytes;  // with this head; 0: not written yet
  LogKind kind;
  std::atomic<std::uint16_t> is_ready;
  std::uint32_t a;
  std::uint32_t b;
};
static_assert(sizeof(LogHead) == 16);

class RegistrationLog {
 public:
  // A record that is being written.
  struct Place {
    LogHead* head = nullptr;
    std::uint32_t id = 0;
    std::byte* data() const { return reinterpret_cast<std::byte*>(head + 1); }
    explicit operator bool() const { return head != nullptr; }
  };

  RegistrationLog() = default;
  explicit RegistrationLog(const SegmentView& segment) : segment_(segment) {}

  // Room for `bytes`; none when the log is full. Everyone waits for publish() to read on.
  Place append(LogKind kind, std::uint32_t a, std::uint32_t b, std::size_t bytes) const;
  static void publish(const Place& place) { place.head->is_ready.store(1, std::memory_order_release); }
  // Appends and publishes a text; 0 when the log is full.
  std::uint32_t add_text(LogKind kind, std::uint32_t a, std::uint32_t b, std::string_view text) const;

  // The text of a published record of the kind.
  std::optional<std::string_view> text(std::uint32_t id, LogKind kind) const;

  // A forked child's: everything that is there.
  void copy_from(const SegmentView& parent) const;

 private:
  std::size_t truncate_to_whole(std::size_t used) const;

  SegmentView segment_;
};

}  // namespace swinscope
