// When CUDA was recorded, where the window of a recording (capture_window.h) opens and closes. For any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "store/records.h"

namespace swinscope {

// Times are those of monotonic_ns().
class RecordedWindows {
 public:
  // What opens and closes more often than this counts as one window from the last one's beginning on.
  static constexpr std::size_t kMost = 4096;

  void opened(std::int64_t now_ns);
  void closed(std::int64_t now_ns);
  // By time. One that is open ends at `now_ns`.
  std::vector<WindowInfo> all(std::int64_t now_ns) const;
  // Whether a window closed between these times.
  bool closed_between(std::int64_t start_ns, std::int64_t end_ns) const;

 private:
  mutable std::mutex mutex_;
  std::vector<WindowInfo> windows_;
  bool is_open_ = false;  // the last one
};

}  // namespace swinscope
