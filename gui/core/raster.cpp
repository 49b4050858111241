#include "gui/core/raster.h"

#include <algorithm>
#include <array>
#include <vector>

#include "analyzer/parallel.h"
#include "analyzer/timeline_walk.h"

namespace swinscope::gui {
namespace {

// The busy part of a column as 0 to 255. Rounded up, and kMinAlpha at least.
int alpha_of(std::int64_t busy_ns, std::int64_t column_ns) {
  if (busy_ns >= column_ns) return 255;
  const double fraction = static_cast<double>(busy_ns) / static_cast<double>(column_ns);
  return kMinAlpha + static_cast<int>((255 - kMinAlpha) * fraction);
}

// Where the columns of a view begin, and where the last one ends: the same for all lanes.
std::vector<std::int64_t> edges_of(const Viewport& view, std::size_t width) {
  std::vector<std::int64_t> edges(width + 1);
  for (std::size_t x = 0; x < edges.size(); ++x)
    edges[x] = view.column_begin_ns(view.first_column + static_cast<std::int64_t>(x));
  return edges;
}

// Draws one lane from left to right. Columns without events, and those within one long event, are filled at once.
class RowPainter {
 public:
  RowPainter(const TimelineLane& lane, std::span<const std::int64_t> edges, const RasterStyle& style,
             std::span<Color> row)
      : lane_(lane), edges_(edges), style_(style), row_(row), walk_(lane, edges[0]) {}

  void paint() {
    std::size_t columns = 1;
    for (std::size_t x = 0; x < row_.size();) {
      // Columns that share a nanosecond see the same events again.
      if (walk_.time_ns() > edges_[x]) walk_.seek(edges_[x]);
      if (walk_.change_ns() >= end_ns(x)) {
        x = fill(x);
        columns = 1;
      } else {
        // Where one column has something to show the next ones often have, too, and several at once are faster.
        x = paint_columns(x, std::min(columns, row_.size() - x));
        columns = std::min(2 * columns, kColumnsAtOnce);
      }
    }
  }

 private:
  static constexpr std::size_t kColumnsAtOnce = 32;

  // A column narrower than a nanosecond shows the whole of it.
  std::int64_t end_ns(std::size_t x) const { return std::max(edges_[x + 1], edges_[x] + 1); }

  std::size_t paint_columns(std::size_t x, std::size_t columns) {
    std::array<Occupancy, kColumnsAtOnce> occupancies;
    if (edges_[x + columns] - edges_[x] < static_cast<std::int64_t>(columns)) columns = 1;
    if (columns == 1) {
      occupancies[0] = walk_.advance(end_ns(x));
    } else {
      walk_.advance(edges_.subspan(x + 1, columns), occupancies);
    }
    for (std::size_t i = 0; i < columns; ++i, ++x)
      row_[x] = color_of(occupancies[i], end_ns(x) - edges_[x]);
    return x;
  }

  // The columns from x on that show the same, which x does; returns the first that may not.
  std::size_t fill(std::size_t x) {
    const LanePosition event = walk_.covering();
    const std::size_t behind = pixel_of(x, walk_.change_ns());
    std::fill(row_.begin() + static_cast<std::ptrdiff_t>(x), row_.begin() + static_cast<std::ptrdiff_t>(behind),
              event == kNoPosition ? style_.background : style_.colors[lane_.name(event)]);
    walk_.advance(edges_[behind]);
    return behind;
  }

  // The first pixel from x on whose column ends behind `time`.
  std::size_t pixel_of(std::size_t x, std::int64_t time_ns) const {
    const auto first = edges_.begin() + static_cast<std::ptrdiff_t>(x);
    const auto end_behind = std::upper_bound(first + 1, edges_.end(), time_ns);
    const auto begin_there = std::lower_bound(first, end_behind, time_ns);
    return static_cast<std::size_t>(std::min(end_behind - edges_.begin() - 1, begin_there - edges_.begin()));
  }

  Color color_of(const Occupancy& occupancy, std::int64_t column_ns) const {
    if (occupancy.event == kNoPosition) return style_.background;
    return blend(style_.background, style_.colors[lane_.name(occupancy.event)], alpha_of(occupancy.busy_ns, column_ns));
  }

  const TimelineLane& lane_;
  std::span<const std::int64_t> edges_;  // of the columns of row_: one more than it has pixels
  const RasterStyle& style_;
  std::span<Color> row_;
  LaneWalk walk_;
};

std::span<Color> row_of(const ImageView& image, int y) {
  return {image.pixels + y * image.stride, static_cast<std::size_t>(image.width)};
}

void fill_rows(const ImageView& image, int from, int to, Color color) {
  for (int y = std::max(from, 0); y < std::min(to, image.height); ++y)
    std::ranges::fill(row_of(image, y), color);
}

// Draws the first visible row of a band and copies it down.
void paint_band(const Timeline& timeline, std::span<const std::int64_t> edges, const LaneBand& band,
                const RasterStyle& style, const ImageView& image) {
  const int top = std::max(band.top, 0);
  const int bottom = std::min(band.top + band.height, image.height);
  if (top >= bottom) return;
  if (band.lane >= timeline.lanes.size()) return fill_rows(image, top, bottom, style.background);
  const std::span<Color> row = row_of(image, top);
  RowPainter(timeline.lanes[band.lane], edges, style, row).paint();
  for (int y = top + 1; y < bottom; ++y)
    std::ranges::copy(row, row_of(image, y).begin());
}

}  // namespace

void rasterise_lane(const TimelineLane& lane, const Viewport& view, const RasterStyle& style, std::span<Color> row) {
  const std::vector<std::int64_t> edges = edges_of(view, row.size());
  RowPainter(lane, edges, style, row).paint();
}

void rasterise(const Timeline& timeline, const Viewport& view, std::span<const LaneBand> bands,
               const RasterStyle& style, const ImageView& image, int threads) {
  std::vector<LaneBand> order(bands.begin(), bands.end());
  std::ranges::sort(order, {}, &LaneBand::top);
  // Each band paints itself and the empty rows down to the next one.
  fill_rows(image, 0, order.empty() ? image.height : order.front().top, style.background);
  const std::vector<std::int64_t> edges = edges_of(view, static_cast<std::size_t>(image.width));
  parallel_for(order.size(), threads, [&](std::size_t i) {
    paint_band(timeline, edges, order[i], style, image);
    const int next = i + 1 < order.size() ? order[i + 1].top : image.height;
    fill_rows(image, order[i].top + order[i].height, next, style.background);
  });
}

}  // namespace swinscope::gui
