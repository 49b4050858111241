// Where in a run the row of a query's result is: at the time that a column of it says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "analyzer/table/table.h"
#include "analyzer/trace/trace.h"
#include "gui/core/calls.h"

namespace swinscope::gui {

// In the time of the row's file.
struct RowTime {
  std::int64_t start_ns = 0;
  std::optional<std::int64_t> end_ns;
};

// Whether rows have a time: a column is called start, begin, time or timestamp, or so behind a "_" ("kernel_start"),
// with or without "_ns", whatever the case of its letters.
bool has_time(const Table& result);
// Nothing where there is no such column, or no whole number in it. The end is that of a column called end.
std::optional<RowTime> time_of(const Table& result, std::size_t row);

// The event that starts then (and ends then, where that is known): on a GPU, else a range, else a call. Where there is
// none the nearest one, with what is to be seen around it. Nothing where the time is not within the events. `rank`: of
// the row's file; nothing: any.
std::optional<Call> call_at(const Trace& trace, std::optional<std::int32_t> rank, const RowTime& time);

}  // namespace swinscope::gui
