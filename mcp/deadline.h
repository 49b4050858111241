// A flag that rises after a time, for work that asks a flag whether to stop.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

namespace swinscope::mcp {

class Deadline {
 public:
  explicit Deadline(std::chrono::seconds after)
      : has_passed_(after.count() <= 0), thread_([this, after](const std::stop_token& stop) { wait(stop, after); }) {}

  const std::atomic<bool>& has_passed() const { return has_passed_; }

 private:
  void wait(const std::stop_token& stop, std::chrono::seconds after) {
    std::unique_lock lock(mutex_);
    over_.wait_for(lock, stop, after, [] { return false; });
    if (!stop.stop_requested()) has_passed_ = true;
  }

  std::atomic<bool> has_passed_;
  std::mutex mutex_;
  std::condition_variable_any over_;
  std::jthread thread_;  // last: it uses the others, and ends before them
};

}  // namespace swinscope::mcp
