// The declared tables, for tables.cpp.
#pragma once

#include "analyzer/export/tables.h"

namespace swinscope {

ExportTable gpu_event_table();
// cuda_calls, ranges, marks, synchronizations, overheads
std::vector<ExportTable> host_event_tables();
// ranks, gpus, steps, environment, lost_records
std::vector<ExportTable> run_tables();
// counters, thread_cpu, processes
std::vector<ExportTable> sample_tables();

}  // namespace swinscope
