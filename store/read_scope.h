// How much of a trace file is read.
#pragma once

#include <cstdint>

namespace swinscope {

// Of every event, from less to more: what a timeline shows (times, name, lane, correlation), what the trace view has
// columns for, or all that the file says. Other fields keep their defaults, which takes less time.
enum class ReadScope : std::uint8_t { kTimeline, kAnalysis, kAll };

// Which part of the rows of the tables with many of them; several readers share a file by it.
struct ReadPart {
  int index = 0;
  int count = 1;
  bool is_whole() const { return count == 1; }
  bool is_first() const { return index == 0; }
};

}  // namespace swinscope
