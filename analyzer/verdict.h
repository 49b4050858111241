// One sentence first: what a run is bound by.
//
// The time of each device in its steps (time_breakdown_of_steps(); where none were found, from its first to its last
// event) is split without remainder, and averaged over devices:
//   input          idle, waiting for data
//   host           idle, because the launch came late or the host was blocked in a synchronizing call
//   communication  exposed communication, and idle that waits for a collective
//   compute        matrix products, convolutions and attention (by kernel name)
//   memory         all other kernels, which move data, and exposed copies and sets
//   other          idle between kernels that were launched in time, or whose launch was not recorded
// The largest of the first five is what the run is bound by. Without any GPU work the steps of the host are split
// instead, where the workload marks its phases (host_phases.h), averaged over ranks: input, communication, and all else
// as compute.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/host_phases.h"
#include "analyzer/steps.h"
#include "analyzer/time_breakdown.h"
#include "analyzer/trace.h"

namespace swinscope {

enum class Bound : std::uint8_t { kInput, kHost, kCommunication, kCompute, kMemory, kOther };
inline constexpr std::size_t kBounds = 6;
std::string_view bound_name(Bound bound);

struct Verdict {
  bool has_gpu_work = false;
  bool is_judged = false;  // by either; else what follows says nothing but the sentence and the evidence
  Bound bound = Bound::kOther;
  std::array<double, kBounds> share{};  // of the device (or step) time, by Bound; sums to 1
  std::int64_t step_ns = 0;             // mean step of the slowest rank, of host or device; 0 where no steps were found
  std::int64_t window_ns = 0;           // mean time span of a device, of which the shares are
  std::string sentence;                 // "bound by host: 54.9 of 234.9 ms per step (23.4 %) …"
  std::string evidence;                 // the command that shows it
};

Verdict judge(const Trace& trace, const std::vector<RankSteps>& steps, const std::vector<HostPhases>& host);

}  // namespace swinscope
