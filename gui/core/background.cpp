#include "gui/core/background.h"

namespace swinscope::gui {

Background::Background() : thread_([this] { run(); }) {}

Background::~Background() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Background::hand_over(std::function<void()> request) {
  {
    const std::lock_guard lock(mutex_);
    request_ = std::move(request);
  }
  changed_.notify_one();
}

void Background::run() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    if (!request_) {
      changed_.wait(lock);
      continue;
    }
    const std::function<void()> request = std::exchange(request_, nullptr);
    lock.unlock();
    request();
    lock.lock();
  }
}

}  // namespace swinscope::gui
