// Search over the names of all events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/timeline/timeline.h"

namespace swinscope::gui {

enum class SearchMode : std::uint8_t {
  kSubstring,  // upper and lower case of ASCII letters are the same
  kRegex,      // case-insensitive
};

struct SearchResult {
  std::vector<bool> names;          // by NameId: it matches
  std::vector<std::uint64_t> hits;  // by LaneId: events whose name matches
  std::uint64_t total = 0;
  std::vector<std::uint32_t> ticks;  // hits that start in each of `columns` equal parts of the timeline's span
};

// An empty pattern matches nothing. Throws Error(kUsage) with the reason for a regular expression that is none.
SearchResult search(const Timeline& timeline, const std::string& pattern, SearchMode mode, std::size_t columns,
                    int threads = 2);

// The hit after (before) `from` in the order of start, then lane, over the given lanes (all when empty); past the last
// one the first again. Nothing when there is no hit in them.
std::optional<TimelineEventId> next_hit(const Timeline& timeline, const SearchResult& result, TimelineEventId from,
                                        bool forward, std::span<const LaneId> lanes = {});
// The first hit that starts at `time` or later, else the first one.
std::optional<TimelineEventId> first_hit(const Timeline& timeline, const SearchResult& result, std::int64_t time_ns,
                                         std::span<const LaneId> lanes = {});

// How many hits of these lanes come before it, and it: "3 of 72" is hit 3.
std::uint64_t hit_number(const Timeline& timeline, const SearchResult& result, TimelineEventId hit,
                         std::span<const LaneId> lanes);
// The first hits of these lanes, in order, at most `limit`. O(hits up to the limit in each lane).
std::vector<TimelineEventId> first_hits(const Timeline& timeline, const SearchResult& result,
                                        std::span<const LaneId> lanes, std::size_t limit);

}  // namespace swinscope::gui
