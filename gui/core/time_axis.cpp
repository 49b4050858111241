#include "gui/core/time_axis.h"

#include <QRegularExpression>
#include <algorithm>
#include <array>
#include <cmath>

namespace swinscope::gui {
namespace {

struct TimeUnit {
  std::int64_t ns;
  int decimals;  // that make it nanoseconds
  const char* name;
};
constexpr std::array<TimeUnit, 4> kUnits = {
    {{1'000'000'000, 9, "s"}, {1'000'000, 6, "ms"}, {1'000, 3, "us"}, {1, 0, "ns"}}};

// The largest unit of which `ns` holds at least one.
const TimeUnit& unit_of(std::int64_t ns) {
  const auto found = std::find_if(kUnits.begin(), kUnits.end(), [&](const TimeUnit& unit) { return ns >= unit.ns; });
  return found == kUnits.end() ? kUnits.back() : *found;
}

// The smallest of 1, 2, 5, 10, 20... that is at least `ns`.
std::int64_t round_up(std::int64_t ns) {
  std::int64_t power = 1;
  while (power <= ns / 10)
    power *= 10;
  for (const std::int64_t factor : {1, 2, 5}) {
    if (factor * power >= ns) return factor * power;
  }
  return 10 * power;
}

QString in_unit(std::int64_t ns, const TimeUnit& unit, int decimals) {
  const QString sign = ns < 0 ? QStringLiteral("-") : QString();
  const std::int64_t magnitude = std::abs(ns);
  QString text = sign + QString::number(magnitude / unit.ns);
  if (decimals > 0) {
    const QString fraction = QStringLiteral("%1").arg(magnitude % unit.ns, unit.decimals, 10, QLatin1Char('0'));
    text += QLatin1Char('.') + fraction.left(decimals);
  }
  return text + QLatin1Char(' ') + QString::fromUtf8(unit.name);
}

// Decimals of the unit that a multiple of `step` needs.
int decimals_for(std::int64_t step, const TimeUnit& unit) {
  int decimals = unit.decimals;
  for (std::int64_t rest = step; decimals > 0 && rest % 10 == 0; rest /= 10)
    --decimals;
  return decimals;
}

std::int64_t floor_multiple(std::int64_t value, std::int64_t step) {
  const std::int64_t rest = value % step;
  return value - (rest < 0 ? rest + step : rest);
}

// Of a number and the name of a unit.
std::optional<std::int64_t> parse_time(QString number, const QString& unit) {
  const auto found =
      std::find_if(kUnits.begin(), kUnits.end(), [&](const TimeUnit& u) { return unit == QLatin1String(u.name); });
  bool is_number = false;
  const double value = number.remove(QLatin1Char(' ')).toDouble(&is_number);
  if (found == kUnits.end() || !is_number || std::abs(value) > 1e9) return std::nullopt;
  return std::llround(value * static_cast<double>(found->ns));
}

}  // namespace

std::vector<TimeTick> time_ticks(Interval window, std::int64_t origin_ns, int count) {
  std::vector<TimeTick> ticks;
  if (window.length() <= 0 || count < 1) return ticks;
  const std::int64_t step = round_up(std::max<std::int64_t>(1, window.length() / count));
  const TimeUnit& unit = unit_of(std::max(std::abs(window.end_ns - origin_ns), step));
  const int decimals = decimals_for(step, unit);
  for (std::int64_t at = floor_multiple(window.begin_ns - origin_ns, step); at <= window.end_ns - origin_ns;
       at += step) {
    if (at + origin_ns >= window.begin_ns) ticks.push_back({at + origin_ns, in_unit(at, unit, decimals)});
  }
  return ticks;
}

QString exact_time(std::int64_t time_ns, std::int64_t origin_ns) {
  const std::int64_t since = time_ns - origin_ns;
  const TimeUnit& unit = unit_of(std::abs(since));
  return in_unit(since, unit, unit.decimals);
}

std::optional<Interval> parse_times(const QString& text) {
  static const QRegularExpression kTimes(
      QStringLiteral("^\\s*(-?[0-9.]+(?: [0-9]+)*)\\s*(s|ms|us|ns)?(?:\\s*(?:to|-|…)\\s*(-?[0-9.]+(?: "
                     "[0-9]+)*)\\s*(s|ms|us|ns))?\\s*$"));
  const QRegularExpressionMatch match = kTimes.match(text);
  if (!match.hasMatch()) return std::nullopt;
  const bool has_end = !match.captured(3).isEmpty();
  // "1 to 2 ms": the unit of both.
  const QString first_unit = match.captured(2).isEmpty() ? match.captured(4) : match.captured(2);
  const std::optional<std::int64_t> begin = parse_time(match.captured(1), first_unit);
  const std::optional<std::int64_t> end = has_end ? parse_time(match.captured(3), match.captured(4)) : begin;
  if (!begin || !end || *end < *begin) return std::nullopt;
  return Interval{*begin, *end};
}

}  // namespace swinscope::gui
