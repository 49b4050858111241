#include "collector/base/clock.h"

#include <charconv>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "collector/base/proc_files.h"

namespace swinscope {
namespace {

std::string boot_id() {
  std::string id = read_small_file("/proc/sys/kernel/random/boot_id");
  while (!id.empty() && id.back() == '\n')
    id.pop_back();
  return id;
}

}  // namespace

std::int64_t measure_utc_offset_ns() {
  // The reading of the wall clock between the two closest readings of the monotonic one.
  constexpr int kTries = 8;
  std::int64_t best_gap_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t offset_ns = 0;
  for (int i = 0; i < kTries; ++i) {
    const std::int64_t before_ns = monotonic_ns();
    const std::int64_t wall_ns = clock_ns(CLOCK_REALTIME);
    const std::int64_t gap_ns = monotonic_ns() - before_ns;
    if (gap_ns >= best_gap_ns) continue;
    best_gap_ns = gap_ns;
    offset_ns = wall_ns - before_ns - gap_ns / 2;
  }
  return offset_ns;
}

std::string utc_offset_text(std::int64_t offset_ns) { return fmt::format("{}:{}", boot_id(), offset_ns); }

std::int64_t utc_offset_from(const char* text) {
  if (text == nullptr) return measure_utc_offset_ns();
  const std::string_view all = text;
  const std::size_t colon = all.rfind(':');
  if (colon == std::string_view::npos || all.substr(0, colon) != boot_id()) return measure_utc_offset_ns();
  std::int64_t offset_ns = 0;
  const auto [end, error] = std::from_chars(all.data() + colon + 1, all.data() + all.size(), offset_ns);
  return error == std::errc() && end == all.data() + all.size() ? offset_ns : measure_utc_offset_ns();
}

}  // namespace swinscope
