#include "gui/core/raster.h"

#include <algorithm>
#include <array>
#include <vector>

#include "analyzer/base/parallel.h"
#include "analyzer/timeline/timeline_walk.h"

namespace swinscope::gui {
namespace {

// The busy part of a column as 0 to 255. Rounded up, and kMinAlpha at least.
int alpha_of(std::int64_t busy_ns, std::int64_t column_ns) {
  if (busy_ns >= column_ns) return 255;
  const double fraction = static_cast<double>(busy_ns) / static_cast<double>(column_ns);
  return kMinAlpha + static_cast<int>((255 - kMinAlpha) * fraction);
}

// The columns of a view, which are the same for all lanes.
struct Columns {
  Columns(const Viewport& view, std::size_t width)
      : edges_ns(width + 1), pixels_per_ns(1 / view.ns_per_pixel), grid_shift(view.grid_shift()) {
    for (std::size_t x = 0; x < edges_ns.size(); ++x)
      edges_ns[x] = view.column_begin_ns(view.first_column + static_cast<std::int64_t>(x));
  }
  std::vector<std::int64_t> edges_ns;  // where they begin, and where the last one ends
  double pixels_per_ns = 1;
  int grid_shift = 0;
};

// Draws one lane from left to right.
class RowPainter {
 public:
  // `cover`, as wide as `row` or empty, becomes the busy part of each column.
  RowPainter(const TimelineLane& lane, const Columns& columns, const RasterStyle& style, std::span<Color> row,
             std::span<std::uint8_t> cover = {})
      : lane_(lane),
        edges_(columns.edges_ns),
        columns_(columns),
        style_(style),
        row_(row),
        cover_(cover),
        walk_(lane, edges_[0]) {}

  void paint() {
    if (lane_.grid().has(columns_.grid_shift)) {
      paint_from_grid();
    } else {
      paint_by_walk();
    }
  }

 private:
  static constexpr std::size_t kColumnsAtOnce = 32;

  // Many events a column.
  void paint_from_grid() {
    std::array<Occupancy, kColumnsAtOnce> occupancies;
    for (std::size_t x = 0; x < row_.size(); x += kColumnsAtOnce) {
      const std::size_t columns = std::min(kColumnsAtOnce, row_.size() - x);
      lane_.grid().occupancies(columns_.grid_shift, edges_.subspan(x, columns + 1),
                               std::span(occupancies).first(columns));
      for (std::size_t i = 0; i < columns; ++i)
        if (occupancies[i].event != kNoPosition) lane_.prefetch_name(occupancies[i].event);
      paint_columns(x, std::span(occupancies).first(columns));
    }
  }

  // Columns without events, and those within one long event, are filled at once.
  void paint_by_walk() {
    std::size_t columns = 1;
    for (std::size_t x = 0; x < row_.size();) {
      // Columns that share a nanosecond see the same events again.
      if (walk_.time_ns() > edges_[x]) walk_.seek(edges_[x]);
      if (walk_.change_ns() >= end_ns(x)) {
        x = fill(x);
        columns = 1;
      } else {
        // Where one column has something to show the next ones often have, too, and several at once are faster.
        x = paint_walking(x, std::min(columns, row_.size() - x));
        columns = std::min(2 * columns, kColumnsAtOnce);
      }
    }
  }

  // A column narrower than a nanosecond shows the whole of it.
  std::int64_t end_ns(std::size_t x) const { return std::max(edges_[x + 1], edges_[x] + 1); }

  std::size_t paint_walking(std::size_t x, std::size_t columns) {
    std::array<Occupancy, kColumnsAtOnce> occupancies;
    if (edges_[x + columns] - edges_[x] < static_cast<std::int64_t>(columns)) columns = 1;
    if (columns == 1) {
      occupancies[0] = walk_.advance(end_ns(x));
    } else {
      walk_.advance(edges_.subspan(x + 1, columns), occupancies);
    }
    paint_columns(x, std::span(occupancies).first(columns));
    return x + columns;
  }

  void paint_columns(std::size_t x, std::span<const Occupancy> occupancies) {
    for (const Occupancy& occupancy : occupancies) {
      row_[x] = color_of(occupancy, end_ns(x) - edges_[x]);
      if (!cover_.empty()) cover_[x] = cover_of(occupancy, end_ns(x) - edges_[x]);
      ++x;
    }
  }

  // The columns from x on that show the same, which x does; returns the first that may not.
  std::size_t fill(std::size_t x) {
    const LanePosition event = walk_.covering();
    const std::size_t behind = pixel_of(x, walk_.change_ns());
    std::fill(row_.begin() + static_cast<std::ptrdiff_t>(x), row_.begin() + static_cast<std::ptrdiff_t>(behind),
              event == kNoPosition ? style_.background : style_.colors[lane_.name(event)]);
    if (!cover_.empty()) std::ranges::fill(cover_.subspan(x, behind - x), event == kNoPosition ? 0 : 255);
    walk_.advance(edges_[behind]);
    return behind;
  }

  // The first pixel from x on whose column ends behind `time`, which is not before that of x.
  std::size_t pixel_of(std::size_t x, std::int64_t time_ns) const {
    if (time_ns > edges_[row_.size()]) return row_.size();
    const auto near = static_cast<std::size_t>(static_cast<double>(time_ns - edges_[0]) * columns_.pixels_per_ns);
    std::size_t edge = std::clamp(near, x, row_.size());  // then the first one from x on that is not before `time`
    while (edge > x && edges_[edge - 1] >= time_ns)
      --edge;
    while (edges_[edge] < time_ns)
      ++edge;
    return edges_[edge] == time_ns ? edge : edge - 1;
  }

  Color color_of(const Occupancy& occupancy, std::int64_t column_ns) const {
    if (occupancy.event == kNoPosition) return style_.background;
    return blend(style_.background, style_.colors[lane_.name(occupancy.event)], alpha_of(occupancy.busy_ns, column_ns));
  }

  static std::uint8_t cover_of(const Occupancy& occupancy, std::int64_t column_ns) {
    return occupancy.event == kNoPosition ? 0 : static_cast<std::uint8_t>(alpha_of(occupancy.busy_ns, column_ns));
  }

  const TimelineLane& lane_;
  std::span<const std::int64_t> edges_;  // of the columns of row_: one more than it has pixels
  const Columns& columns_;
  const RasterStyle& style_;
  std::span<Color> row_;
  std::span<std::uint8_t> cover_;
  LaneWalk walk_;
};

std::span<Color> row_of(const ImageView& image, int y) {
  return {image.pixels + y * image.stride, static_cast<std::size_t>(image.width)};
}

void fill_rows(const ImageView& image, int from, int to, Color color) {
  for (int y = std::max(from, 0); y < std::min(to, image.height); ++y)
    std::ranges::fill(row_of(image, y), color);
}

// Several lanes in one row of pixels.
void paint_over(const Timeline& timeline, const Columns& columns, const LaneBand& band, const RasterStyle& style,
                std::span<Color> row) {
  std::vector<std::uint8_t> cover(row.size());
  RowPainter(timeline.lanes[band.lane], columns, style, row, cover).paint();
  std::vector<Color> other(row.size());
  std::vector<std::uint8_t> other_cover(row.size());
  for (const LaneId lane : band.others) {
    RowPainter(timeline.lanes[lane], columns, style, other, other_cover).paint();
    for (std::size_t x = 0; x < row.size(); ++x) {
      if (other_cover[x] <= cover[x]) continue;
      row[x] = other[x];
      cover[x] = other_cover[x];
    }
  }
}

// Draws the first visible row of a band and copies it down.
void paint_band(const Timeline& timeline, const Columns& columns, const LaneBand& band, const RasterStyle& style,
                const ImageView& image) {
  const int top = std::max(band.top, 0);
  const int bottom = std::min(band.top + band.height, image.height);
  if (top >= bottom) return;
  if (band.lane >= timeline.lanes.size()) return fill_rows(image, top, bottom, style.background);
  const std::span<Color> row = row_of(image, top);
  if (band.others.empty()) {
    RowPainter(timeline.lanes[band.lane], columns, style, row).paint();
  } else {
    paint_over(timeline, columns, band, style, row);
  }
  for (int y = top + 1; y < bottom; ++y)
    std::ranges::copy(row, row_of(image, y).begin());
}

}  // namespace

void rasterise_lane(const TimelineLane& lane, const Viewport& view, const RasterStyle& style, std::span<Color> row) {
  RowPainter(lane, Columns(view, row.size()), style, row).paint();
}

void rasterise(const Timeline& timeline, const Viewport& view, std::span<const LaneBand> bands,
               const RasterStyle& style, const ImageView& image, int threads) {
  std::vector<LaneBand> order(bands.begin(), bands.end());
  std::ranges::sort(order, {}, &LaneBand::top);
  // Each band paints itself and the empty rows down to the next one.
  fill_rows(image, 0, order.empty() ? image.height : order.front().top, style.background);
  const Columns columns(view, static_cast<std::size_t>(image.width));
  parallel_for(order.size(), threads, [&](std::size_t i) {
    paint_band(timeline, columns, order[i], style, image);
    const int next = i + 1 < order.size() ? order[i + 1].top : image.height;
    fill_rows(image, order[i].top + order[i].height, next, style.background);
  });
}

}  // namespace swinscope::gui
