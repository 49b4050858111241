// One sentence first: what a run is bound by.
//
// The time of every device in its window of the scope is split without remainder, first things first:
//   compute        matrix products, convolutions and attention
//   memory         the other kernels of known kind, which move data, and exposed copies within a device and sets
//   unknown        kernels of unknown kind and whole CUDA graphs
//   waiting        exposed communication until the last rank came, and idle that waits for a collective
//   transfer       exposed communication from then on, and exposed copies between GPUs
//   communication  exposed communication of which the two cannot be told apart (one rank of several)
//   host copies    exposed copies between host and device
//   input, host    idle: waiting for data; because the launch came late, or the host was blocked in a call
//   other          idle between kernels that were launched in time, or whose launch was not recorded
// and summed over devices. What the run is bound by is the largest, if it is a known one: it must lead the second by
// more than the unknown part, and be larger than what is unknown and other together. Else that is not known.
// A CPU run's steps are split by what the host did, where the workload marks its phases (host_phases.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/analyses/collective_waits.h"
#include "analyzer/analyses/host_phases.h"
#include "analyzer/analyses/host_waits.h"
#include "analyzer/analyses/kernel_table.h"
#include "analyzer/analyses/time_breakdown.h"
#include "analyzer/facts/scope.h"
#include "analyzer/table/table.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

enum class Bound : std::uint8_t {
  kInput,
  kHost,
  kWaiting,
  kTransfer,
  kCommunication,
  kHostCopies,
  kCompute,
  kMemory,
  kUnknown,
  kOther
};
inline constexpr std::size_t kBounds = 10;
std::string_view bound_name(Bound bound);  // "waiting for other ranks"

struct Verdict {
  bool has_gpu_work = false;
  bool has_parts = false;  // the time could be split at all
  // Nothing where that is not known: `abstained` then says why.
  std::optional<Bound> bound;
  std::optional<Bound> second;
  std::string abstained;
  std::array<std::int64_t, kBounds> total_ns{};  // over devices (or ranks), by Bound
  std::int64_t whole_ns = 0;                     // their sum
  // A part of a step, or of a device's time where the scope is the whole trace; they sum to `whole_part_ns`.
  std::array<std::int64_t, kBounds> part_ns{};
  std::int64_t whole_part_ns = 0;
  std::string sentence;
  std::string evidence;             // the command that shows it
  std::vector<std::string> doubts;  // what makes the figures incomplete or doubtful, a line each

  double share(Bound of) const;  // 0..1
  // "high"; "medium" where the bound leads the second by less than a tenth of the time, or something is doubtful; "low"
  // for both; empty where nothing is said.
  std::string_view confidence() const;
};

// `kernels`: of the scope, by name; `waits`: those that `devices` were made with. `host_activity` is asked where the
// verdict is the host.
Verdict judge(const Trace& trace, const RunScope& scope, const std::vector<DeviceBreakdown>& devices,
              const std::vector<KernelRow>& kernels, const std::vector<HostPhases>& host, const CollectiveWaits& waits,
              const std::function<const HostActivity&()>& host_activity);

// Integers that sum to round(sum of `values` / divisor), each within one of its value / divisor; divisor >= 1.
template <std::size_t N>
std::array<std::int64_t, N> divide_exactly(const std::array<std::int64_t, N>& values, std::int64_t divisor) {
  divisor = std::max<std::int64_t>(1, divisor);
  std::array<std::int64_t, N> parts{};
  std::int64_t sum = 0;    // of the values so far
  std::int64_t given = 0;  // of the parts so far
  for (std::size_t i = 0; i < N; ++i) {
    sum += values[i];
    const std::int64_t up_to_here = (sum + divisor / 2) / divisor;
    parts[i] = up_to_here - given;
    given = up_to_here;
  }
  return parts;
}

// A row for each bound, which sum to the verdict's whole; no rows where nothing could be split.
Table bound_table(const Verdict& verdict, const RunScope& scope);

}  // namespace swinscope
