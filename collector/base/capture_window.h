// When CUDA activity is recorded: throughout, or only within a window of the run (`record --steps`, `--duration`,
// `--capture-range`, `--armed`). Ranges and CPU times are recorded throughout: they tell where the window lies.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace swinscope {

enum class WindowKind : std::uint8_t { kWhole, kSteps, kRange, kProfilerApi, kArmed };

struct WindowOptions {
  WindowKind kind = WindowKind::kWhole;
  std::int64_t first_step = 0;   // of kSteps; steps count from 0
  std::int64_t end_step = 0;     // behind the last one
  std::string range;             // of kRange: the name of a push/pop range, in any domain
  std::int64_t duration_ns = 0;  // ends the window this long after it began; 0: does not
};

// "whole", "steps:10:20", "nvtx:NAME", "cudaProfilerApi", "armed"; nothing when it is none of them.
std::optional<WindowOptions> parse_window(std::string_view text);
std::string window_text(const WindowOptions& options);

// `step`, `step N` and `ProfilerStep#N`, by which the analyzer finds steps, too.
bool is_step_name(std::string_view name);

// In the run's folder; `swinscope trigger` makes and removes it.
inline constexpr const char* kTriggerFile = "trigger";

// Says when ranges open and close the window. Threads may call it at once.
class RangeWindow {
 public:
  enum class Move : std::uint8_t { kNone, kOpen, kClose };

  explicit RangeWindow(WindowOptions options) : options_(std::move(options)) {}

  bool watches_ranges() const { return options_.kind == WindowKind::kSteps || options_.kind == WindowKind::kRange; }
  // `level` as NVTX counts it, from 0 in each domain of each thread.
  Move pushed(std::uint32_t thread, std::uint32_t domain, int level, std::string_view name);
  Move popped(std::uint32_t thread, std::uint32_t domain, int level);

 private:
  struct Place {
    std::uint32_t thread;
    std::uint32_t domain;
    int level;
    bool operator==(const Place&) const = default;
  };

  WindowOptions options_;
  std::mutex mutex_;
  std::optional<Place> opened_;    // the range, or step, that is open; what is within does not count
  std::optional<Place> steps_of_;  // steps are counted on the thread and in the domain of the first
  std::int64_t steps_ = 0;
};

}  // namespace swinscope
