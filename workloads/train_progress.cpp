#include "workloads/train_progress.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace swinscope {
namespace {

constexpr std::int64_t kLines = 10;
constexpr std::int64_t kQuietNs = 30'000'000'000;

}  // namespace

std::string format_time_left(double seconds) {
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  const std::int64_t minutes = (whole + 30) / 60;
  return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
}

TrainProgress::TrainProgress(std::int64_t done, std::int64_t total, std::int64_t global_batch)
    : total_(total), global_batch_(global_batch), tenth_(std::max<std::int64_t>(1, total / kLines)), first_(done) {}

std::optional<std::string> TrainProgress::line(std::int64_t step, const StepResult& result, std::int64_t duration_ns,
                                               std::int64_t now_ns) {
  // The first step of a run also makes buffers and chooses algorithms; what comes after it tells more.
  const bool is_first = first_ns_ == 0;
  const double step_ns = is_first ? static_cast<double>(duration_ns)
                                  : static_cast<double>(now_ns - first_ns_) / static_cast<double>(step - first_);
  if (is_first) {
    first_ = step;
    first_ns_ = now_ns;
  }
  const bool due =
      is_first || (step - 1) % tenth_ == 0 || step == total_ || now_ns - said_ns_ >= kQuietNs || result.skipped;
  if (!due) return std::nullopt;
  said_ns_ = now_ns;
  return fmt::format(
      "step {}/{}: loss {:.4f}, accuracy {:.1f}%, gradient norm {:.3f}, {:.1f} ms, {:.1f} images/s, {} left{}", step,
      total_, result.loss, 100.0 * result.accuracy, result.gradient_norm, static_cast<double>(duration_ns) * 1e-6,
      static_cast<double>(global_batch_) / (step_ns * 1e-9),
      format_time_left(static_cast<double>(total_ - step) * step_ns * 1e-9),
      result.skipped ? ", skipped: the gradient is not finite" : "");
}

}  // namespace swinscope
