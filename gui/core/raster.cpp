#include "gui/core/raster.h"

#include <algorithm>
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
    go_to(0);
    next_ = lane_.first_from(begin_ns_);
    while (x_ < row_.size()) {
      if (!fill_same()) paint_column();
    }
  }

 private:
  void go_to(std::size_t x) {
    x_ = x;
    if (x == row_.size()) return;
    begin_ns_ = edges_[x];
    // A column narrower than a nanosecond shows the whole of it.
    end_ns_ = std::max(edges_[x + 1], begin_ns_ + 1);
  }

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
    go_to(x);
  }

  bool is_covered() const { return next_ > 0 && lane_.event_end_ns(next_ - 1) > begin_ns_; }

  // Fills the columns up to the next change of the lane; false when that lies within this column.
  bool fill_same() {
    const bool covered = is_covered();
    if (!covered && next_ == lane_.size()) {
      fill_to(row_.size(), style_.background);
      return true;
    }
    const std::int64_t change = covered ? lane_.event_end_ns(next_ - 1) : lane_.start_ns(next_);
    if (change < end_ns_) return false;
    fill_to(pixel_of(change), covered ? style_.colors[lane_.names()[next_ - 1]] : style_.background);
    return true;
  }

  void fetch_ahead() const {
    constexpr std::size_t kEvents = 6;  // pixels ahead
    constexpr std::size_t kIndex = 16;
    lane_.prefetch_events(edges_[std::min(x_ + kEvents, row_.size())]);
    lane_.prefetch_index(edges_[std::min(x_ + kIndex, row_.size())]);
  }

  void paint_column() {
    fetch_ahead();
    const LanePosition last = lane_.first_from(end_ns_);
    const Occupancy occupancy = lane_.occupancy({is_covered() ? next_ - 1 : next_, last}, begin_ns_, end_ns_);
    Color& pixel = row_[x_];
    if (occupancy.event == kNoPosition) {
      pixel = style_.background;
    } else {
      const Color color = style_.colors[lane_.names()[occupancy.event]];
      pixel = blend(style_.background, color, alpha_of(occupancy.busy_ns, end_ns_ - begin_ns_));
    }
    const std::int64_t painted_to = end_ns_;
    go_to(x_ + 1);
    // Columns that share a nanosecond see the same events again.
    next_ = begin_ns_ == painted_to ? last : lane_.first_from(begin_ns_);
  }

  const TimelineLane& lane_;
  std::span<const std::int64_t> edges_;  // of the columns of row_: one more than it has pixels
  const RasterStyle& style_;
  std::span<Color> row_;
  std::size_t x_ = 0;
  std::int64_t begin_ns_ = 0;  // of column x_
  std::int64_t end_ns_ = 0;
  LanePosition next_ = 0;  // the first event that starts at begin_ns_ or later
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
