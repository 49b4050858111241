#include "gui/core/raster.h"

#include <algorithm>
#include <array>
#include <vector>

#include "analyzer/parallel.h"

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

// Draws one lane from left to right. The events of a column begin where those of the one before end, so each column
// asks for one position only; columns without events, and those within one long event, are filled at once.
class RowPainter {
 public:
  RowPainter(const TimelineLane& lane, std::span<const std::int64_t> edges, const RasterStyle& style,
             std::span<Color> row)
      : lane_(lane), edges_(edges), style_(style), row_(row) {}

  void paint() {
    begin_ = lane_.moment(edges_[0]);
    std::size_t columns = 1;
    while (x_ < row_.size()) {
      if (fill_same()) {
        columns = 1;
      } else {
        // Where one column has something to show the next ones often have, too, and several at once are faster.
        paint_columns(std::min(columns, row_.size() - x_));
        columns = std::min(2 * columns, kColumnsAtOnce);
      }
    }
  }

 private:
  static constexpr std::size_t kColumnsAtOnce = 16;

  // A column narrower than a nanosecond shows the whole of it.
  std::int64_t column_end_ns(std::size_t x) const { return std::max(edges_[x + 1], edges_[x] + 1); }

  // The first pixel from x_ on whose column ends behind `time`.
  std::size_t pixel_of(std::int64_t time_ns) const {
    const auto first = edges_.begin() + static_cast<std::ptrdiff_t>(x_);
    const auto end_behind = std::upper_bound(first + 1, edges_.end(), time_ns);
    const auto begin_there = std::lower_bound(first, end_behind, time_ns);
    const auto x = std::min(end_behind - edges_.begin() - 1, begin_there - edges_.begin());
    return std::min(static_cast<std::size_t>(x), row_.size());
  }

  void fill_to(std::size_t x, Color color) {
    std::fill(row_.begin() + static_cast<std::ptrdiff_t>(x_), row_.begin() + static_cast<std::ptrdiff_t>(x), color);
    x_ = x;
    if (x_ < row_.size()) begin_ = lane_.moment(edges_[x_]);
  }

  // Fills the columns up to the next change of the lane; false when that lies within this column.
  bool fill_same() {
    if (!begin_.covered && begin_.next == lane_.size()) {
      fill_to(row_.size(), style_.background);
      return true;
    }
    const std::int64_t change = begin_.covered ? lane_.event_end_ns(begin_.next - 1) : lane_.start_ns(begin_.next);
    if (change < column_end_ns(x_)) return false;
    fill_to(pixel_of(change), begin_.covered ? style_.colors[lane_.name(begin_.next - 1)] : style_.background);
    return true;
  }

  void paint_columns(std::size_t columns) {
    std::array<std::int64_t, kColumnsAtOnce> ends;
    std::array<Moment, kColumnsAtOnce> moments;
    for (std::size_t i = 0; i < columns; ++i)
      ends[i] = column_end_ns(x_ + i);
    lane_.moments(std::span(ends).first(columns), std::span(moments).first(columns));
    for (std::size_t i = 0; i < columns; ++i) {
      paint_column(moments[i]);
      if (++x_ == row_.size()) return;
      // Columns that share a nanosecond see the same events again.
      begin_ = edges_[x_] == ends[i] ? moments[i] : lane_.moment(edges_[x_]);
    }
  }

  void paint_column(const Moment& end) {
    const Occupancy occupancy = lane_.occupancy(begin_, end);
    Color& pixel = row_[x_];
    if (occupancy.event == kNoPosition) {
      pixel = style_.background;
    } else {
      const Color color = style_.colors[lane_.name(occupancy.event)];
      pixel = blend(style_.background, color, alpha_of(occupancy.busy_ns, end.time_ns - begin_.time_ns));
    }
  }

  const TimelineLane& lane_;
  std::span<const std::int64_t> edges_;  // of the columns of row_: one more than it has pixels
  const RasterStyle& style_;
  std::span<Color> row_;
  std::size_t x_ = 0;
  Moment begin_;  // of column x_
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
