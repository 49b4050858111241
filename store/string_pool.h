// Interned strings: equal strings get equal, dense ids; id 0 is the empty string.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "store/records.h"

namespace swinscope {

class StringPool {
 public:
  StringPool() { intern(""); }

  StringId intern(std::string_view text) {
    if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
    const auto id = static_cast<StringId>(strings_.size());
    ids_.emplace(strings_.emplace_back(text), id);
    return id;
  }

  std::string_view text(StringId id) const { return strings_[id]; }
  StringId size() const { return static_cast<StringId>(strings_.size()); }

 private:
  std::deque<std::string> strings_;  // a deque: the views used as keys must not move
  std::unordered_map<std::string_view, StringId> ids_;
};

}  // namespace swinscope
