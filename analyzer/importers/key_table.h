// What keys stand for, where a key is looked up for each field of each event: only those of its length are compared.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace swinscope {

template <typename Value, std::size_t kCount>
class KeyTable {
 public:
  using Entry = std::pair<std::string_view, Value>;

  // Keys are of 1 to 63 characters, each there once, 255 at most.
  explicit constexpr KeyTable(std::array<Entry, kCount> entries) : entries_(std::move(entries)) {
    std::size_t next = 0;
    for (std::size_t length = 0; length + 1 < first_.size(); ++length) {
      first_[length] = static_cast<std::uint8_t>(next);
      for (std::size_t i = 0; i < kCount; ++i) {
        if (entries_[i].first.size() == length) by_length_[next++] = static_cast<std::uint8_t>(i);
      }
    }
    first_.back() = static_cast<std::uint8_t>(next);
  }

  // Null where there is none.
  constexpr const Value* find(std::string_view key) const {
    if (key.size() + 1 >= first_.size()) return nullptr;
    for (std::size_t i = first_[key.size()]; i < first_[key.size() + 1]; ++i) {
      const Entry& entry = entries_[by_length_[i]];
      if (entry.first == key) return &entry.second;
    }
    return nullptr;
  }

 private:
  std::array<Entry, kCount> entries_;
  std::array<std::uint8_t, kCount> by_length_{};  // of entries_
  std::array<std::uint8_t, 65> first_{};          // by length, of by_length_
};

template <typename Value, std::size_t kCount>
KeyTable(std::array<std::pair<std::string_view, Value>, kCount>) -> KeyTable<Value, kCount>;

}  // namespace swinscope
