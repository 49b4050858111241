// Work beside the window: one thread that does what it is given in turn, and answers in the thread of this object.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "gui/core/mailbox.h"

namespace swinscope::gui {

class Background {
 public:
  Background();
  Q_DISABLE_COPY_MOVE(Background)
  // Waits for the work that has begun; its answers are dropped.
  ~Background();

  // Runs `work` in the other thread and hands its result to `done` in this one. Only the latest request matters: the
  // answer to an earlier one is dropped, and one that has not begun is never begun. `work` must not throw.
  template <typename Work, typename Done>
  void start(Work work, Done done) {
    const std::uint64_t number = ++latest_;
    hand_over([this, number, work = std::move(work), done = std::move(done)]() mutable {
      auto result = std::make_shared<decltype(work())>(work());
      mailbox_.post([this, number, result, done = std::move(done)] {
        if (number != latest_) return;
        answered_ = number;
        done(std::move(*result));
      });
    });
  }
  // The latest request no longer matters.
  void forget() { answered_ = ++latest_; }
  // No answer is to be expected.
  bool is_idle() const { return answered_ == latest_; }

 private:
  void hand_over(std::function<void()> request);
  void run();

  std::uint64_t latest_ = 0;  // this one and the next are used in this object's thread only
  std::uint64_t answered_ = 0;
  Mailbox mailbox_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> request_;  // the latest that has not begun
  bool ends_ = false;
  std::thread thread_;  // not one of Qt's: race detectors cannot see into Qt
};

}  // namespace swinscope::gui
