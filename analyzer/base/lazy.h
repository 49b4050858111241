// A value that is computed when it is first asked for, once, whichever thread asks.
#pragma once

#include <mutex>
#include <optional>
#include <utility>

namespace swinscope {

template <typename Value>
class Lazy {
 public:
  // `make()` gives the value. Where it throws, the next one who asks computes again. It may not ask for the same value.
  template <typename Make>
  const Value& get(Make&& make) const {
    const std::lock_guard lock(mutex_);
    if (!value_) value_.emplace(std::forward<Make>(make)());
    return *value_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::optional<Value> value_;
};

}  // namespace swinscope
