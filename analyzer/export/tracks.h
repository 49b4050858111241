// Distributes events over tracks so that on each of them they nest: viewers of Chrome traces draw nothing else.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace swinscope {

// Of events by start, those that start together by end, the later one first. First fit: as few tracks as greedy gives.
class NestingTracks {
 public:
  // May nest: a range within a range. Otherwise each event of a track begins when the one before has ended.
  explicit NestingTracks(bool may_nest) : may_nest_(may_nest) {}

  // The track of the next event, from 0.
  std::size_t place(std::int64_t start_ns, std::int64_t end_ns) {
    for (std::size_t track = 0; track < open_.size(); ++track) {
      if (fits(open_[track], start_ns, end_ns)) return put(track, end_ns);
    }
    open_.emplace_back();
    return put(open_.size() - 1, end_ns);
  }
  std::size_t size() const { return open_.size(); }

 private:
  bool fits(std::vector<std::int64_t>& ends, std::int64_t start_ns, std::int64_t end_ns) const {
    while (!ends.empty() && ends.back() <= start_ns)
      ends.pop_back();
    return ends.empty() || (may_nest_ && end_ns <= ends.back());
  }
  std::size_t put(std::size_t track, std::int64_t end_ns) {
    open_[track].push_back(end_ns);
    return track;
  }

  bool may_nest_;
  std::vector<std::vector<std::int64_t>> open_;  // by track: ends of the events that are open, the innermost last
};

}  // namespace swinscope
