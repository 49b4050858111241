// Records that were read out of a lane and are not stored yet: a burst is taken out of the program's memory as fast as
// it can be copied, so that the program finds room, and stored at the file's pace.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

namespace swinscope {

// Used by one thread. The bytes of all backlogs of this process count together.
class Backlog {
 public:
  Backlog() = default;
  Backlog(const Backlog&) = delete;
  Backlog& operator=(const Backlog&) = delete;
  Backlog(Backlog&& other) noexcept = default;
  Backlog& operator=(Backlog&&) = delete;
  ~Backlog();

  // A record whose first four bytes hold its size.
  void push(const std::byte* record);
  // Calls take(record) for the oldest ones, until `max_bytes` have gone by. A record is consumed even when take throws.
  // Returns whether nothing is left.
  bool drain(std::size_t max_bytes, const std::function<void(const std::byte*)>& take);

  static std::size_t bytes_of_all();

 private:
  using Chunk = std::vector<std::byte>;

  std::deque<Chunk> chunks_;
  std::size_t offset_ = 0;  // in the first one
};

}  // namespace swinscope
