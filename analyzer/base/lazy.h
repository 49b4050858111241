// A value that is computed when it is first asked for, once, whichever thread asks.
#pragma once

#include <mutex>
#include <optional>
#include <utility>

namespace swinscope {

template <typename Value>
class Lazy {
 public:
  // `make()` gives the value. Where it throws, the next one who asks computes again.
  template <typename Make>
  const Value& get(Make&& make) const {
    std::call_once(once_, [&] { value_.emplace(std::forward<Make>(make)()); });
    return *value_;
  }

 private:
  mutable std::once_flag once_;
  mutable std::optional<Value> value_;
};

}  // namespace swinscope
