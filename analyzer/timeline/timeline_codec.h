// The bytes in which lanes and names are stored; store/schema.sql (SWINSCOPE_TIMELINE_CHUNK) describes them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/intervals.h"
#include "analyzer/timeline/timeline.h"

namespace swinscope {

inline constexpr LanePosition kEventsPerChunk = 65'536;

std::string encode_events(const TimelineLane& lane, LanePosition first, LanePosition last);
// Appends the events to the lane, whose key is set. False when the bytes are damaged: an overflow, a name that is none
// of `names`, indexes that do not ascend, an event before the last one of the lane. The lane is then not to be used.
bool decode_events(std::string_view bytes, NameId names, TimelineLane& lane);

std::string encode_names(const NameTable& names, NameId first, NameId last);
bool decode_names(std::string_view bytes, NameTable& names);

std::string encode_intervals(const std::vector<Interval>& intervals);
bool decode_intervals(std::string_view bytes, std::vector<Interval>& intervals);

}  // namespace swinscope
