// Makes room in a trace that is being written, for recordings that keep the newest records: what ended in the older
// part of the recorded time goes, of all kinds of events alike, so that the file is whole from one time on. What
// describes (names, schemas, processes, communicators, ranges that are still open) stays.
#pragma once

#include <cstdint>
#include <vector>

#include "store/database.h"
#include "store/records.h"

namespace swinscope {

struct RemovedRecords {
  std::int64_t whole_from_ns = 0;  // everything that ended at or after this time is there
  std::vector<DropInfo> counts;    // by kind; empty: there was nothing to remove
};

// The time is that of the row in the middle of the longest table. The freed pages are used again: the file does not
// shrink. Throws Error.
RemovedRecords remove_oldest_records(Database& db);

// Of the file, without the pages that are free.
std::int64_t used_bytes(Database& db);

}  // namespace swinscope
