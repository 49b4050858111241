// One rank of a Perfetto export: its process with steps, threads and streams.
#pragma once

#include <cstddef>
#include <cstdint>

#include "analyzer/export/perfetto_job.h"

namespace swinscope::perfetto {

// Returns the number of the rank's process.
std::int64_t write_rank_process(Job& job, std::size_t rank_index);

}  // namespace swinscope::perfetto
