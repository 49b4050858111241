#include "gui/core/viewport.h"

#include <algorithm>
#include <cmath>

namespace swinscope::gui {
namespace {

constexpr std::size_t kHistory = 200;
// Times are at most 2^61 away from 0: columns beyond this are never needed, and doubles of this size are exact enough
// to be added.
constexpr double kMaxColumn = 6e18;
constexpr double kMaxPixels = 1e9;
constexpr int kMaxGridShift = 40;  // the grid of no lane is coarser

std::int64_t saturated(double value) { return static_cast<std::int64_t>(std::clamp(value, -kMaxColumn, kMaxColumn)); }

double clamp_zoom(double ns_per_pixel) { return std::clamp(ns_per_pixel, kMinNsPerPixel, kMaxNsPerPixel); }

}  // namespace

int Viewport::grid_shift() const { return std::clamp(std::ilogb(ns_per_pixel) - 1, 0, kMaxGridShift); }

std::int64_t Viewport::column_begin_ns(std::int64_t column) const {
  const int shift = grid_shift();
  const std::int64_t half = (std::int64_t{1} << shift) / 2;
  const std::int64_t exact = origin_ns + saturated(std::floor(static_cast<double>(column) * ns_per_pixel));
  return ((exact + half) >> shift) * (std::int64_t{1} << shift);
}

std::int64_t Viewport::column_of(std::int64_t time_ns) const {
  const double quotient = std::floor(static_cast<double>(time_ns - origin_ns) / ns_per_pixel);
  std::int64_t column = saturated(quotient);
  if (std::abs(quotient) >= kMaxColumn) return column;
  // The division is rounded; the boundaries are what counts. Of several columns that begin with the same nanosecond the
  // last one has it.
  while (column_begin_ns(column) > time_ns)
    --column;
  while (column_begin_ns(column + 1) <= time_ns)
    ++column;
  return column;
}

double Viewport::x_of(std::int64_t time_ns) const {
  const double x = static_cast<double>(time_ns - origin_ns) / ns_per_pixel - static_cast<double>(first_column);
  return std::clamp(x, -kMaxPixels, kMaxPixels);
}

Viewport fit(Interval span, int width) {
  Viewport view;
  view.origin_ns = span.begin_ns;
  view.width = std::max(width, 1);
  return fit_part(view, span);
}

Viewport fit_part(const Viewport& view, Interval part) {
  constexpr double kMargin = 0.01;
  Viewport result = view;
  const double width = view.width;
  result.ns_per_pixel = clamp_zoom(static_cast<double>(part.length()) / (width * (1 - 2 * kMargin)));
  const double middle = (static_cast<double>(part.begin_ns - view.origin_ns) + static_cast<double>(part.length()) / 2) /
                        result.ns_per_pixel;
  result.first_column = saturated(std::floor(middle - width / 2));
  return result;
}

Viewport zoomed(const Viewport& view, double factor, double x) {
  Viewport result = view;
  const double offset_ns = (static_cast<double>(view.first_column) + x) * view.ns_per_pixel;
  result.ns_per_pixel = clamp_zoom(view.ns_per_pixel / factor);
  result.first_column = saturated(std::round(offset_ns / result.ns_per_pixel - x));
  return result;
}

Viewport panned(const Viewport& view, std::int64_t pixels) {
  Viewport result = view;
  constexpr auto kLimit = static_cast<std::int64_t>(kMaxColumn);
  result.first_column = std::clamp(view.first_column + pixels, -kLimit, kLimit);
  return result;
}

Viewport resized(const Viewport& view, int width) {
  Viewport result = view;
  result.width = std::max(width, 1);
  return result;
}

Viewport clamped(const Viewport& view, Interval span) {
  const Viewport widest = fit({span.begin_ns, std::max(span.end_ns, span.begin_ns + 1)}, view.width);
  if (view.ns_per_pixel >= widest.ns_per_pixel) {
    Viewport result = fit_part(view, span);
    result.ns_per_pixel = widest.ns_per_pixel;
    return result;
  }
  Viewport result = view;
  const std::int64_t half = view.width / 2;
  const std::int64_t lowest = view.column_of(span.begin_ns) - half;
  const std::int64_t highest = view.column_of(span.end_ns) + half - view.width;
  result.first_column = std::clamp(view.first_column, lowest, std::max(lowest, highest));
  return result;
}

void ZoomHistory::push(const Viewport& view) {
  if (view == current()) return;
  views_.resize(at_ + 1);
  views_.push_back(view);
  if (views_.size() > kHistory) views_.erase(views_.begin());
  at_ = views_.size() - 1;
}

const Viewport& ZoomHistory::undo() {
  if (can_undo()) --at_;
  return current();
}

const Viewport& ZoomHistory::redo() {
  if (can_redo()) ++at_;
  return current();
}

}  // namespace swinscope::gui
