// Which file is a sample of the training: each epoch goes through all files once, in an order of its own.
#pragma once

#include <cstdint>

namespace swinscope {

// Without state, so that any thread can ask for any sample: an epoch's order is a Feistel network (Luby, Rackoff 1988)
// of four rounds over the next power of 4, walked on where it leads out of the set (Black, Rogaway 2002).
class SampleOrder {
 public:
  // `size`: number of files, at least 1. Not shuffled: by number.
  SampleOrder(std::int64_t size, bool shuffled, std::uint64_t seed);

  std::int64_t size() const { return size_; }
  // Place `position` (0 to size - 1) of an epoch (from 0) -> number of a file.
  std::int64_t file(std::int64_t epoch, std::int64_t position) const;

 private:
  std::uint64_t permute(std::int64_t epoch, std::uint64_t value) const;

  std::int64_t size_;
  bool shuffled_;
  std::uint64_t seed_;
  int half_bits_ = 1;
};

}  // namespace swinscope
