// Which part of the time axis a view shows. Pixel columns are numbered over the whole axis, from `origin_ns`, and the
// boundary of a column depends on its number and the zoom alone: panning by one pixel shifts the image by exactly one.
// Boundaries lie on multiples of a power of two of nanoseconds, at most a quarter of a pixel from where they would be
// otherwise: for those a lane knows much beforehand (analyzer/timeline/timeline_grid.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/base/intervals.h"

namespace swinscope::gui {

inline constexpr double kMinNsPerPixel = 1.0 / 64;
inline constexpr double kMaxNsPerPixel = 1e19;

struct Viewport {
  std::int64_t origin_ns = 0;  // of the columns: the begin of the timeline
  double ns_per_pixel = 1;
  std::int64_t first_column = 0;  // at x = 0; may be negative
  int width = 1;                  // pixels, at least 1

  // The largest shift for which two times 2^shift ns are not more than a pixel, 0 when there is none.
  int grid_shift() const;
  // The begin of a column, a multiple of 2^grid_shift() ns; columns narrower than a nanosecond may share it.
  std::int64_t column_begin_ns(std::int64_t column) const;
  // The column in which a time lies.
  std::int64_t column_of(std::int64_t time_ns) const;
  std::int64_t time_at(int x) const { return column_begin_ns(first_column + x); }
  // Pixels from the left edge; outside of [0, width) when not visible. At most +-1e9.
  double x_of(std::int64_t time_ns) const;
  Interval range() const { return {time_at(0), time_at(width)}; }
  bool operator==(const Viewport&) const = default;
};

// All of `span` (not empty) in `width` pixels, with a margin of 1 % on either side. The result's origin is span's
// begin.
Viewport fit(Interval span, int width);
// The same for part of the axis: keeps the origin. `part` may be empty; then it is shown at the smallest zoom.
Viewport fit_part(const Viewport& view, Interval part);
// `factor` > 1 shows more detail. The time below the pixel x stays there.
Viewport zoomed(const Viewport& view, double factor, double x);
Viewport panned(const Viewport& view, std::int64_t pixels);
// Keeps the time at the left edge.
Viewport resized(const Viewport& view, int width);
// Not further out than fit(span), not past the ends of the span by more than half a view.
Viewport clamped(const Viewport& view, Interval span);

// Undo and redo of zooms and pans. Holds the last 200 views.
class ZoomHistory {
 public:
  explicit ZoomHistory(const Viewport& first) : views_{first} {}
  const Viewport& current() const { return views_[at_]; }
  // Forgets what was undone. A view equal to the current one changes nothing.
  void push(const Viewport& view);
  // Replaces the current view: for the small steps of one continuous movement, of which only the last counts.
  void replace(const Viewport& view) { views_[at_] = view; }
  bool can_undo() const { return at_ > 0; }
  bool can_redo() const { return at_ + 1 < views_.size(); }
  // The current view after it; nothing happens where there is none.
  const Viewport& undo();
  const Viewport& redo();

 private:
  std::vector<Viewport> views_;
  std::size_t at_ = 0;
};

}  // namespace swinscope::gui
