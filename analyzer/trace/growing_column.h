// A column while it is filled: it grows without moving what is there, joins another one without copying it, and gives
// its memory back when its values are put in order. A vector that doubles would hold a large trace twice.
//
// Values lie in chunks. A place is a chunk and an offset in it: columns that are filled and joined in step have the
// same places, which are not dense where a column was joined.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <vector>

#include "analyzer/trace/trace.h"

namespace swinscope {

template <typename T>
class GrowingColumn {
 public:
  void push_back(const T& value) {
    if (chunks_.empty() || chunks_.back().size() == kChunk) {
      chunks_.emplace_back();
      if (chunks_.size() > 1) chunks_.back().reserve(kChunk);  // the first of a small trace stays small
    }
    chunks_.back().push_back(value);
  }
  T& operator[](EventIndex place) { return chunks_[place / kChunk][place % kChunk]; }
  const T& operator[](EventIndex place) const { return chunks_[place / kChunk][place % kChunk]; }

  std::size_t size() const {
    std::size_t count = 0;
    for (const auto& chunk : chunks_)
      count += chunk.size();
    return count;
  }

  // From the first to the last value.
  template <typename Visit>
  void for_each(Visit visit) {
    for (auto& chunk : chunks_)
      std::ranges::for_each(chunk, visit);
  }
  template <typename Visit>
  void for_each_place(Visit visit) const {
    for (std::size_t c = 0; c < chunks_.size(); ++c) {
      for (std::size_t i = 0; i < chunks_[c].size(); ++i)
        visit(static_cast<EventIndex>(c * kChunk + i));
    }
  }

  // Takes the values of another one, behind its own.
  void take_over(GrowingColumn& other) {
    std::ranges::move(other.chunks_, std::back_inserter(chunks_));
    other.chunks_.clear();
  }

  // The values at these places; the column is empty afterwards.
  std::vector<T> take_in_order(std::span<const EventIndex> places) {
    std::vector<T> ordered;
    ordered.reserve(places.size());
    for (const EventIndex place : places)
      ordered.push_back((*this)[place]);
    chunks_ = {};
    return ordered;
  }

 private:
  static constexpr std::size_t kChunk = std::size_t{1} << 16U;

  std::vector<std::vector<T>> chunks_;
};

}  // namespace swinscope
