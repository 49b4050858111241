// Draws the events of lanes into an image.
//
// A pixel column of a lane shows the colour of the event that covers most of the column's time, blended over the
// background by the busy fraction of that time; an event is never thinner than one pixel and never fainter than
// kMinAlpha, so that a lone short one stays visible at every zoom. The same input gives the same image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "analyzer/timeline/timeline.h"
#include "gui/core/palette.h"
#include "gui/core/viewport.h"

namespace swinscope::gui {

inline constexpr int kMinAlpha = 72;

struct RasterStyle {
  Color background = 0xffffffff;
  std::span<const Color> colors;  // by NameId, of every name of the timeline (name_colors)
};

// One row of pixels of a lane, from view.first_column on, as wide as `row`.
void rasterise_lane(const TimelineLane& lane, const Viewport& view, const RasterStyle& style, std::span<Color> row);

// A lane's place in the image: rows [top, top + height), which may lie partly or wholly outside of it.
struct LaneBand {
  LaneId lane = 0;
  int top = 0;
  int height = 0;
  // Lanes that share the band: each column shows the one that is busiest in it, of equal ones the first.
  std::span<const LaneId> others = {};
};

// Pixels owned by the caller, e.g. of a QImage in Format_RGB32: `stride` is the distance of rows in pixels.
struct ImageView {
  Color* pixels = nullptr;
  int width = 0;
  int height = 0;
  std::ptrdiff_t stride = 0;
};

// Fills the image: the bands (which must not overlap) with their lanes, everything else with the background. Lanes that
// the timeline does not have are background. The view's width does not matter, the image's does. Uses up to `threads`
// threads.
void rasterise(const Timeline& timeline, const Viewport& view, std::span<const LaneBand> bands,
               const RasterStyle& style, const ImageView& image, int threads = 2);

}  // namespace swinscope::gui
