// The rows of a trace file that describe the recorded process: its identity, machine and GPUs, how the recording went,
// and the same in the tables that clients of Nsight Systems' exports ask.
#pragma once

#include "store/database.h"
#include "store/records.h"

namespace swinscope {

// Replaces all of them, and removes the threads' names, so that it may be called again when more is known. `complete`:
// the recording was finished. Throws Error.
void write_run(Database& db, const RunInfo& run, bool complete);

}  // namespace swinscope
