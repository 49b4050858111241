// Going from one event to another of the same name: the calls of a kernel, of a function, the ranges of an operator.
// Those of the same process, and where the event ran on a GPU those that did.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "analyzer/timeline/timeline.h"

namespace swinscope::gui {

enum class Occurrence : std::uint8_t {
  kNext,      // by start; behind the last one the first
  kPrevious,  // before the first one the last
  kLongest,   // of equal ones the first
  kShorter,   // the longest of those that are shorter, or as long and later; behind the shortest the longest
};

struct OccurrencePlace {
  TimelineEventId event;
  std::size_t number = 0;  // by start, from 1
  std::size_t count = 0;
};

// O(events of the process).
OccurrencePlace occurrence(const Timeline& timeline, TimelineEventId from, Occurrence which);

}  // namespace swinscope::gui
