#include "gui/core/roofline_plot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analyzer/base/text.h"

namespace swinscope::gui {
namespace {

constexpr double kLeastRadius = 3;
constexpr double kMostRadius = 26;
constexpr double kNear = 4;
constexpr double kTera = 1e3;  // FLOP/ns of a TFLOP/s

// Of whole powers from the least to the most, at most nine of them.
std::vector<double> powers_between(double least, double most) {
  const int apart = std::max(1, static_cast<int>(std::ceil((most - least) / 8)));
  std::vector<double> powers;
  for (int above = 0; above <= static_cast<int>(most - least); above += apart)
    powers.push_back(std::exp2(least + above));
  return powers;
}

}  // namespace

RooflinePlot::RooflinePlot(Roofline roofline, const QRectF& area) : roofline_(std::move(roofline)), area_(area) {
  find_range();
  place_dots();
  place_roofs();
}

double RooflinePlot::x_of(double intensity) const {
  return area_.left() + area_.width() * (std::log2(intensity) - least_x_) / (most_x_ - least_x_);
}

double RooflinePlot::y_of(double flop_per_ns) const {
  return area_.bottom() - area_.height() * (std::log2(flop_per_ns / kTera) - least_y_) / (most_y_ - least_y_);
}

// The points, and the corners of the roofs.
void RooflinePlot::find_range() {
  double least_x = std::numeric_limits<double>::max();
  double most_x = std::numeric_limits<double>::lowest();
  double least_y = least_x;
  double most_y = most_x;
  const auto include = [&](double intensity, double flop_per_ns) {
    least_x = std::min(least_x, std::log2(intensity));
    most_x = std::max(most_x, std::log2(intensity));
    least_y = std::min(least_y, std::log2(flop_per_ns / kTera));
    most_y = std::max(most_y, std::log2(flop_per_ns / kTera));
  };
  for (const RooflinePoint& point : roofline_.points)
    if (const auto intensity = point.intensity()) include(*intensity, point.flop_per_ns());
  const double memory = roofline_.roofs.empty() ? 0 : roofline_.roofs.front().bytes_per_ns;
  for (const Roof& roof : roofline_.roofs)
    if (memory > 0 && roof.flop_per_ns > 0) include(roof.flop_per_ns / memory, roof.flop_per_ns);
  if (least_x > most_x) return;
  least_x_ = std::floor(least_x - 0.5);
  most_x_ = std::ceil(most_x + 0.5);
  least_y_ = std::floor(least_y - 0.5);
  most_y_ = std::ceil(most_y + 0.5);
}

void RooflinePlot::place_dots() {
  double all_ns = 0;
  for (const RooflinePoint& point : roofline_.points)
    all_ns += static_cast<double>(point.gpu_ns);
  for (std::size_t i = 0; i < roofline_.points.size(); ++i) {
    const RooflinePoint& point = roofline_.points[i];
    const auto intensity = point.intensity();
    if (!intensity) continue;
    const double share = static_cast<double>(point.gpu_ns) / all_ns;
    dots_.push_back({i,
                     {x_of(*intensity), y_of(point.flop_per_ns())},
                     std::max(kLeastRadius, kMostRadius * std::sqrt(std::min(1.0, 4 * share)))});
  }
  std::ranges::stable_sort(dots_, std::ranges::greater(),
                           [&](const RooflineDot& dot) { return roofline_.points[dot.point].gpu_ns; });
}

void RooflinePlot::place_roofs() {
  if (dots_.empty() || roofline_.roofs.empty() || roofline_.roofs.front().bytes_per_ns <= 0) return;
  const double memory = roofline_.roofs.front().bytes_per_ns;
  double fastest = 0;
  for (const Roof& roof : roofline_.roofs)
    fastest = std::max(fastest, roof.flop_per_ns);
  // Where it enters the plot: at its left edge, or below.
  const double first = std::max(std::exp2(least_x_), kTera * std::exp2(least_y_) / memory);
  roofs_.push_back({QStringLiteral("memory %1 GB/s").arg(memory, 0, 'f', 0),
                    {x_of(first), y_of(first * memory)},
                    {x_of(fastest / memory), y_of(fastest)}});
  for (const Roof& roof : roofline_.roofs) {
    if (roof.flop_per_ns <= 0) continue;
    roofs_.push_back({QStringLiteral("%1 %2 TFLOP/s")
                          .arg(QString::fromStdString(roof.name))
                          .arg(roof.flop_per_ns / kTera, 0, 'g', 4),
                      {x_of(roof.flop_per_ns / memory), y_of(roof.flop_per_ns)},
                      {area_.right(), y_of(roof.flop_per_ns)}});
  }
}

std::vector<std::pair<double, double>> RooflinePlot::x_ticks() const {
  std::vector<std::pair<double, double>> ticks;
  for (const double intensity : powers_between(least_x_, most_x_))
    ticks.emplace_back(intensity, x_of(intensity));
  return ticks;
}

std::vector<std::pair<double, double>> RooflinePlot::y_ticks() const {
  std::vector<std::pair<double, double>> ticks;
  for (const double tera : powers_between(least_y_, most_y_))
    ticks.emplace_back(tera, y_of(kTera * tera));
  return ticks;
}

std::optional<std::size_t> RooflinePlot::dot_at(QPointF position) const {
  std::optional<std::size_t> nearest;
  double least = kNear;
  for (std::size_t i = 0; i < dots_.size(); ++i) {
    const QPointF away = dots_[i].place - position;
    // Smaller ones are painted last, and win where several are under the pointer.
    const double distance = std::max(0.0, std::hypot(away.x(), away.y()) - dots_[i].radius);
    if (distance > least) continue;
    least = distance;
    nearest = i;
  }
  return nearest;
}

double RooflinePlot::share_without_place() const {
  double all_ns = 0;
  double without_ns = 0;
  for (const RooflinePoint& point : roofline_.points) {
    all_ns += static_cast<double>(point.gpu_ns);
    if (!point.intensity()) without_ns += static_cast<double>(point.gpu_ns);
  }
  return all_ns > 0 ? without_ns / all_ns : 0;
}

QString text_of(const RooflinePoint& point, const QString& unit) {
  QString text = QString::fromStdString(point.path);
  if (!point.phase.empty()) text += u' ' + QString::fromStdString(point.phase);
  const std::int64_t steps = std::max<std::int64_t>(1, point.steps);
  text += QStringLiteral(": %1 per %2").arg(QString::fromStdString(format_duration(point.gpu_ns / steps)), unit);
  if (point.flops > 0) text += QStringLiteral(", %1 TFLOP/s").arg(point.flop_per_ns() / kTera, 0, 'g', 4);
  if (const auto intensity = point.intensity()) text += QStringLiteral(" at %1 FLOP a byte").arg(*intensity, 0, 'g', 4);
  text += QStringLiteral(", %1 % of %2's roof")
              .arg(100 * point.share(), 0, 'f', 1)
              .arg(point.roof == "memory" ? QStringLiteral("the memory") : QString::fromStdString(point.roof));
  if (point.is_estimated) text += QStringLiteral("; estimated by shapes");
  if (point.is_above()) text += QStringLiteral("; above its roof: by a cache, or a figure is wrong");
  return text;
}

}  // namespace swinscope::gui
