// Writes a trace as Chrome trace event JSON for people to look at, in Perfetto (https://ui.perfetto.dev) or
// chrome://tracing.
//
// A rank is a process; its tracks are its steps, its threads (ranges of all domains around CUDA calls) and its streams.
// Viewers nest the events of a track, and drop what overlaps without nesting: such events go to further tracks of the
// same name with a number. Kernels carry their launch configuration, layer path, FLOPs and bytes by annotation; copies
// their bandwidth. Arrows lead from a launching call to what it launched. Sampled values are counters.
#pragma once

#include <cstdint>

#include "analyzer/export/output.h"
#include "analyzer/export/source.h"

namespace swinscope {

// Returns how many events were written, metadata among them.
std::int64_t export_perfetto(const ExportSource& source, ExportOutput& output);

}  // namespace swinscope
