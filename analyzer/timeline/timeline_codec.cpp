#include "analyzer/timeline/timeline_codec.h"

#include <limits>

#include "store/utf8.h"

namespace swinscope {
namespace {

// The readers of traces take no times beyond this either: sums and differences of two cannot overflow.
constexpr std::int64_t kMaxTimeNs = std::int64_t{1} << 61;

std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63);
}
std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1U) ^ -static_cast<std::int64_t>(value & 1U);
}

void put(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U)
    bytes.push_back(static_cast<char>(value | 0x80U));
  bytes.push_back(static_cast<char>(value));
}

// Reads numbers from bytes that may be anything. After the first number that is none, ok() stays false and every number
// is 0.
class NumberReader {
 public:
  explicit NumberReader(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool ok() const { return ok_; }
  bool at_end() const { return at_ == end_; }

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; at_ != end_ && shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
    return fail();
  }
  // At most `limit`.
  std::uint64_t number(std::uint64_t limit) {
    const std::uint64_t value = number();
    return value <= limit ? value : fail();
  }
  std::int64_t time() {
    const std::int64_t value = unzigzag(number());
    return value >= -kMaxTimeNs && value <= kMaxTimeNs ? value : static_cast<std::int64_t>(fail());
  }
  std::string_view text(std::uint64_t size) {
    if (size > static_cast<std::uint64_t>(end_ - at_)) {
      fail();
      return {};
    }
    const std::string_view text(at_, size);
    at_ += size;
    return text;
  }

 private:
  std::uint64_t fail() {
    ok_ = false;
    at_ = end_;
    return 0;
  }

  const char* at_;
  const char* end_;
  bool ok_ = true;
};

std::int64_t launch_number(EventIndex launch) { return launch == kNoEvent ? 0 : std::int64_t{launch} + 1; }

}  // namespace

std::string encode_events(const TimelineLane& lane, LanePosition first, LanePosition last) {
  std::string bytes;
  if (first >= last) return bytes;
  bytes.reserve(std::size_t{last - first} * 8);
  std::int64_t end_ns = lane.start_ns(first);
  put(bytes, zigzag(end_ns));
  EventIndex ref = 0;
  std::int64_t launch = 0;
  for (LanePosition i = first; i < last; ++i) {
    const LaneEvent event = lane.event(i);
    put(bytes, static_cast<std::uint64_t>(event.start_ns - end_ns));
    put(bytes, static_cast<std::uint64_t>(event.duration_ns));
    put(bytes, event.name);
    put(bytes, event.ref - ref);
    end_ns = event.end_ns();
    ref = event.ref;
    if (!is_gpu(lane.key.kind)) continue;
    put(bytes, zigzag(launch_number(event.launch) - launch));
    launch = launch_number(event.launch);
  }
  return bytes;
}

bool decode_events(std::string_view bytes, NameId names, TimelineLane& lane) {
  if (bytes.empty()) return true;
  NumberReader reader(bytes);
  const bool gpu = is_gpu(lane.key.kind);
  const bool first_chunk = lane.empty();
  std::int64_t end_ns = reader.time();
  if (!first_chunk && end_ns < lane.end_ns()) return false;
  std::int64_t last_ref = first_chunk ? -1 : std::int64_t{lane.refs().back()};
  std::int64_t ref = 0;
  std::int64_t launch = 0;
  while (!reader.at_end()) {
    LaneEvent event;
    event.start_ns = end_ns + static_cast<std::int64_t>(reader.number(kMaxTimeNs));
    event.duration_ns = static_cast<std::int64_t>(reader.number(kMaxTimeNs));
    event.name = static_cast<NameId>(reader.number(std::numeric_limits<NameId>::max()));
    ref += static_cast<std::int64_t>(reader.number(kNoEvent));
    if (gpu) {
      launch += reader.time();
      if (launch < 0 || launch > kNoEvent) return false;
      event.launch = launch == 0 ? kNoEvent : static_cast<EventIndex>(launch - 1);
    }
    end_ns = event.start_ns > kMaxTimeNs ? kMaxTimeNs + 1 : event.end_ns();
    if (!reader.ok() || end_ns > kMaxTimeNs || event.name >= names || ref <= last_ref || ref >= kNoEvent) return false;
    event.ref = static_cast<EventIndex>(ref);
    last_ref = ref;
    lane.append(event);
  }
  return reader.ok();
}

std::string encode_names(const NameTable& names, NameId first, NameId last) {
  std::string bytes;
  for (NameId id = first; id < last; ++id) {
    put(bytes, names.text(id).size());
    bytes.append(names.text(id));
  }
  return bytes;
}

bool decode_names(std::string_view bytes, NameTable& names) {
  NumberReader reader(bytes);
  while (!reader.at_end()) {
    const std::string_view text = reader.text(reader.number());
    if (!reader.ok()) return false;
    names.add(is_valid_utf8(text) ? text : replace_invalid_utf8(text));
  }
  return reader.ok();
}

std::string encode_intervals(const std::vector<Interval>& intervals) {
  std::string bytes;
  std::int64_t last = 0;
  for (const Interval& interval : intervals) {
    put(bytes, zigzag(interval.begin_ns - last));
    put(bytes, zigzag(interval.length()));
    last = interval.end_ns;
  }
  return bytes;
}

bool decode_intervals(std::string_view bytes, std::vector<Interval>& intervals) {
  NumberReader reader(bytes);
  std::int64_t last = 0;
  while (!reader.at_end()) {
    Interval interval;
    interval.begin_ns = last + reader.time();
    // Sums stay far from overflow: one that is out of range ends the loop.
    interval.end_ns = interval.begin_ns + reader.time();
    last = interval.end_ns;
    if (!reader.ok() || interval.length() < 0 || interval.begin_ns < -kMaxTimeNs || last > kMaxTimeNs) return false;
    intervals.push_back(interval);
  }
  return reader.ok();
}

}  // namespace swinscope
