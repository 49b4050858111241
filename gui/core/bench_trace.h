// A trace as a training job makes it, of any size, for measuring: four GPUs of one process, each with its thread, or
// several processes with one GPU each. GPUs have counters of power and clock.
#pragma once

#include <cstdint>

#include "store/sink.h"

namespace swinscope::gui {

// Adds one rank's records: at least `events` kernels, copies, calls and ranges, ending with a whole step, and returns
// how many. The same records every time.
std::uint64_t write_bench_trace(RecordSink& sink, std::uint64_t events, int rank = 0, int ranks = 1);

}  // namespace swinscope::gui
