// What the host's steps were spent on: waiting for data, for other ranks, or work. On a run without a GPU this is all
// there is to tell by; beside one it says how long the loop stood still, of which the device may have hidden a part.
//
//   input         |U(ranges that wait for data) n U(steps)| on the threads that mark the steps
//   communication |U(phase `allreduce` of our own workloads) n U(steps)| less input: what the backward pass did not
//   hide work          the rest of the steps
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/facts/scope.h"
#include "analyzer/table/table.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

// Ranges inside which a training loop waits for its input: the phase `data` of our own workloads, and PyTorch's loader.
bool is_input_range(std::string_view domain, std::string_view name);

struct HostPhases {
  std::int32_t rank = 0;
  std::int64_t steps = 0;
  std::int64_t step_ns = 0;  // of all steps together
  std::int64_t input_ns = 0;
  std::int64_t longest_input_ns = 0;  // of one step
  std::int64_t communication_ns = 0;
  std::int64_t work_ns() const { return step_ns - input_ns - communication_ns; }
};

// One row for each rank whose measured steps are marked by ranges of a thread that also marks where it waits for data,
// in the order of Trace::ranks.
std::vector<HostPhases> host_phases(const Trace& trace, const RunScope& scope);

// The waits for data alone.
Table input_wait_table(const std::vector<HostPhases>& ranks);

}  // namespace swinscope
