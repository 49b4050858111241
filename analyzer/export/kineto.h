// Writes a rank of a trace as the PyTorch profiler (Kineto) does: Chrome trace JSON with its categories and argument
// names, which Holistic Trace Analysis, TraceLens and our own importer read. What the format has no place for is kept
// beside the events (kineto_own.h), so that an import gives the same records as the source.
//
// Ranges of NVTX are user annotations. Where the source has no ProfilerStep#N annotations and no annotations of
// streams, steps are written as both; such events are marked "derived", and the importer passes over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "analyzer/export/output.h"
#include "analyzer/export/source.h"

namespace swinscope {

// Of Trace::ranks[rank_index]; the recorders of the run (Trace::launchers) go along with the first rank. Returns how
// many events were written, metadata among them.
std::int64_t export_kineto(const ExportSource& source, std::size_t rank_index, ExportOutput& output);

// "rank0.kineto.json.gz"; a further process of a rank is named like its recording.
std::string kineto_file_name(const Trace& trace, std::size_t rank_index);

}  // namespace swinscope
