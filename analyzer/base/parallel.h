// Work on several threads, and how it is stopped.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "store/error.h"

namespace swinscope {

// Asks whether someone has cancelled. Cheap, but not for every event: every few ten thousand.
class CancelCheck {
 public:
  // May be null: then nobody can.
  explicit CancelCheck(const std::atomic<bool>* cancel) : cancel_(cancel) {}
  // Throws Error(kInterrupted).
  void check() const {
    if (cancel_ != nullptr && cancel_->load(std::memory_order_relaxed)) {
      throw Error(ErrorKind::kInterrupted, "cancelled");
    }
  }

 private:
  const std::atomic<bool>* cancel_;
};

// Asks for a cancellation once in a while, in loops and comparisons that go over millions of records.
class Watch {
 public:
  explicit Watch(const std::atomic<bool>* cancel) : cancel_(cancel) {}
  void tick() const {
    if (++ticks_ % 65'536 == 0) cancel_.check();
  }

 private:
  CancelCheck cancel_;
  mutable std::uint64_t ticks_ = 0;
};

// That this machine has; at least 1.
inline int processors() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

// Calls work(0) to work(count - 1), each once, on up to `threads` threads, this one among them. Once one has thrown, no
// further one is begun, and the exception is thrown here.
inline void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  std::exception_ptr error;
  const auto run = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++)
        work(i);
    } catch (...) {
      next = count;
      if (!failed.exchange(true)) error = std::current_exception();
    }
  };
  std::vector<std::jthread> helpers;
  for (std::size_t i = 1; i < static_cast<std::size_t>(threads) && i < count; ++i)
    helpers.emplace_back(run);
  run();
  helpers.clear();  // joins
  if (error) std::rethrow_exception(error);
}

}  // namespace swinscope
