#include "collector/base/capture_window.h"

#include <charconv>

#include <fmt/format.h>

namespace swinscope {
namespace {

constexpr std::string_view kSteps = "steps:";
constexpr std::string_view kRange = "nvtx:";

bool begins_with(std::string_view text, std::string_view part) { return text.substr(0, part.size()) == part; }

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

std::optional<WindowOptions> parse_window(std::string_view text) {
  WindowOptions options;
  if (text == "whole") return options;
  if (text == "cudaProfilerApi") {
    options.kind = WindowKind::kProfilerApi;
    return options;
  }
  if (text == "armed") {
    options.kind = WindowKind::kArmed;
    return options;
  }
  if (begins_with(text, kRange) && text.size() > kRange.size()) {
    options.kind = WindowKind::kRange;
    options.range = text.substr(kRange.size());
    return options;
  }
  if (!begins_with(text, kSteps)) return std::nullopt;
  text.remove_prefix(kSteps.size());
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto first = number(text.substr(0, colon));
  const auto end = number(text.substr(colon + 1));
  if (!first || !end || *end <= *first) return std::nullopt;
  options.kind = WindowKind::kSteps;
  options.first_step = *first;
  options.end_step = *end;
  return options;
}

std::string window_text(const WindowOptions& options) {
  switch (options.kind) {
    case WindowKind::kSteps:
      return fmt::format("steps:{}:{}", options.first_step, options.end_step);
    case WindowKind::kRange:
      return "nvtx:" + options.range;
    case WindowKind::kProfilerApi:
      return "cudaProfilerApi";
    case WindowKind::kArmed:
      return "armed";
    case WindowKind::kWhole:
      break;
  }
  return "whole";
}

bool is_step_name(std::string_view name) {
  return name == "step" || begins_with(name, "step ") || begins_with(name, "ProfilerStep#");
}

RangeWindow::Move RangeWindow::pushed(std::uint32_t thread, std::uint32_t domain, int level, std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (opened_) return Move::kNone;
  const Place place{thread, domain, level};
  if (options_.kind == WindowKind::kRange) {
    if (name != options_.range) return Move::kNone;
    opened_ = place;
    return Move::kOpen;
  }
  if (options_.kind != WindowKind::kSteps || !is_step_name(name)) return Move::kNone;
  if (!steps_of_) steps_of_ = place;
  if (steps_of_->thread != thread || steps_of_->domain != domain) return Move::kNone;
  opened_ = place;
  return steps_++ == options_.first_step ? Move::kOpen : Move::kNone;
}

RangeWindow::Move RangeWindow::popped(std::uint32_t thread, std::uint32_t domain, int level) {
  const std::lock_guard lock(mutex_);
  if (opened_ != Place{thread, domain, level}) return Move::kNone;
  opened_.reset();
  return options_.kind == WindowKind::kRange || steps_ == options_.end_step ? Move::kClose : Move::kNone;
}

}  // namespace swinscope
