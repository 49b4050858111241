// A trace as a training job makes it, of any size, for measuring: several GPUs of one process, each with its thread.
#pragma once

#include <cstdint>

#include "store/sink.h"

namespace swinscope::gui {

// Adds at least `events` kernels, copies, calls and ranges, ending with a whole step, and returns how many. The same
// records every time.
std::uint64_t write_bench_trace(RecordSink& sink, std::uint64_t events);

}  // namespace swinscope::gui
