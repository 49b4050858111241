#include "collector/cupti/recorded_windows.h"

#include <algorithm>

namespace swinscope {

void RecordedWindows::opened(std::int64_t now_ns) {
  const std::lock_guard lock(mutex_);
  if (!is_open_ && windows_.size() < kMost) windows_.push_back({now_ns, now_ns});
  is_open_ = true;
}

void RecordedWindows::closed(std::int64_t now_ns) {
  const std::lock_guard lock(mutex_);
  if (is_open_) windows_.back().end_ns = now_ns;
  is_open_ = false;
}

std::vector<WindowInfo> RecordedWindows::all(std::int64_t now_ns) const {
  const std::lock_guard lock(mutex_);
  std::vector<WindowInfo> all = windows_;
  if (is_open_) all.back().end_ns = now_ns;
  return all;
}

bool RecordedWindows::closed_between(std::int64_t start_ns, std::int64_t end_ns) const {
  const std::lock_guard lock(mutex_);
  const auto first = std::upper_bound(windows_.begin(), windows_.end(), start_ns,
                                      [](std::int64_t t, const WindowInfo& window) { return t < window.end_ns; });
  if (first == windows_.end() || first->end_ns >= end_ns) return false;
  return !is_open_ || &*first != &windows_.back();
}

}  // namespace swinscope
