// The clock of every record: CLOCK_MONOTONIC, which never jumps and is the same in all processes of a host.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

namespace swinscope {

inline std::int64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

inline std::int64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }

// Wall-clock time of a monotonic instant: utc = monotonic + offset.
std::int64_t measure_utc_offset_ns();

// One offset for all processes of a recording on one host, so that their files align exactly however the wall clock is
// adjusted meanwhile. The text carries the host's boot id; on another host, or after a reboot, it does not count and
// the offset is measured anew.
std::string utc_offset_text(std::int64_t offset_ns);
std::int64_t utc_offset_from(const char* text);

}  // namespace swinscope
