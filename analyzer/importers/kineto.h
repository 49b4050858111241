// Importer of PyTorch profiler (Kineto) traces: Chrome-trace JSON, plain or gzip.
//
// Streams: decompression and splitting run on one thread, parsing on another, in memory that does not grow with the
// file. GPU kernels, copies, sets, CUDA calls and synchronizations become the records of the same name. Operators
// (cpu_op), user annotations and Python functions become ranges in domains named torch.*. Events that say the same
// again (flow arrows, the profiler's own span) are not stored. Times are exact to the nanosecond.
#pragma once

#include <atomic>
#include <filesystem>

#include "analyzer/importers/import_report.h"
#include "store/sink.h"

namespace swinscope {

// Throws Error(kInput) when the file holds no trace. A truncated or damaged file yields what was readable, a warning
// and `corrupt`. Single events that cannot be used are left out and counted in RunInfo::drops.
ImportReport import_kineto(const std::filesystem::path& path, TraceSink& sink,
                           const std::atomic<bool>* cancel = nullptr);

}  // namespace swinscope
