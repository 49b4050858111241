// What a device did between two instants, split without remainder: kernels, else communication, else copies, else idle
// by its cause (idle_causes.h). Idle before a collective that was launched in time is dependency: its rank is the one
// that is looked at, so it waited for its own streams. What lies outside of the scope's windows is other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/analyses/idle_causes.h"
#include "analyzer/base/intervals.h"
#include "analyzer/facts/scope.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

enum class StretchPart : std::uint8_t {
  kHost,
  kSynchronization,
  kInput,
  kDependency,
  kKernels,
  kCopies,
  kCommunication,
  kOther
};
inline constexpr std::size_t kStretchParts = 8;

class StretchParts {
 public:
  using Lengths = std::array<std::int64_t, kStretchParts>;  // by StretchPart

  // The windows of a device are added by time.
  void add(const Rank& rank, const DeviceScope& device, const IdleJudge& judge);
  // They sum to the interval's length; all 0 where that is not positive.
  Lengths of(Interval interval) const;

 private:
  // The parts up to that time.
  Lengths up_to(std::int64_t time_ns) const;

  // Pieces by time; each ends where the next one begins, the last one never does. The parts of those before every 64th
  // are kept: a device has as many pieces as events.
  static constexpr std::size_t kEvery = 64;
  void add(std::int64_t begin_ns, StretchPart part);
  std::vector<std::int64_t> begin_ns_;
  std::vector<StretchPart> part_;
  std::vector<Lengths> before_;
};

}  // namespace swinscope
