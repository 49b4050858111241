#include "analyzer/trace/trace_facts.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace swinscope {
namespace {

std::set<std::int32_t> ranks_of(const Trace& trace) {
  std::set<std::int32_t> ranks;
  for (const Rank& rank : trace.ranks)
    ranks.insert(rank.run.rank);
  return ranks;
}

}  // namespace

std::int64_t rank_count(const Trace& trace) { return static_cast<std::int64_t>(ranks_of(trace).size()); }

std::int32_t world_size(const Trace& trace) {
  std::int32_t size = 0;
  for (const Rank& rank : trace.ranks)
    size = std::max(size, rank.run.world_size);
  return size;
}

MissingRanks missing_ranks(const Trace& trace) {
  MissingRanks missing;
  missing.world_size = world_size(trace);
  const std::set<std::int32_t> present = ranks_of(trace);
  if (present.empty()) return missing;
  missing.count = std::max<std::int64_t>(0, missing.world_size - static_cast<std::int64_t>(present.size()));
  if (missing.count == 0 || missing.count > MissingRanks::kMostNamed) return missing;
  for (std::int32_t rank = 0; rank < missing.world_size; ++rank) {
    if (!present.contains(rank)) missing.ranks.push_back(rank);
  }
  return missing;
}

bool counts_losses(const Trace& trace) {
  return std::ranges::all_of(trace.ranks, [](const Rank& rank) { return rank.run.source == "swinscope"; });
}

std::string MissingRanks::sentence() const {
  if (count == 0) return {};
  std::string text = fmt::format("{} of {} ranks {} missing", count, world_size, count == 1 ? "is" : "are");
  for (std::size_t i = 0; i < ranks.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? ": " : ", ", ranks[i]);
  return text;
}

}  // namespace swinscope
