#include "gui/core/query_place.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <string>
#include <string_view>

namespace swinscope::gui {
namespace {

constexpr std::int64_t kAround = 1'000'000;  // ns to either side of a moment without an event of its own

// Lower case and without what only says the unit, or whose it is.
std::string plain_name(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name.ends_with("_ns")) name.resize(name.size() - 3);
  if (const std::size_t at = name.rfind('_'); at != std::string::npos) name.erase(0, at + 1);
  return name;
}

std::optional<std::size_t> find_named(const Table& table, std::initializer_list<std::string_view> names) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string name = plain_name(table.columns[i].key);
    if (std::ranges::find(names, name) != names.end()) return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> start_column(const Table& table) {
  return find_named(table, {"start", "begin", "time", "timestamp"});
}

std::optional<std::int64_t> whole_number(const Table& table, std::size_t row, std::optional<std::size_t> column) {
  if (!column) return std::nullopt;
  const auto* value = std::get_if<std::int64_t>(&table.rows[row][*column]);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

// The best event so far: exact ones before others, then the nearest; of equals the first.
class Nearest {
 public:
  explicit Nearest(const RowTime& time) : time_(time) {}

  template <typename Events>
  void look(std::uint32_t process, LaneKind kind, const Events& events) {
    for (EventIndex i = 0; i < events.size(); ++i) {
      const std::int64_t start = events.start_ns[i];
      first_ns_ = std::min(first_ns_, start);
      last_ns_ = std::max(last_ns_, events.end_ns[i]);
      const std::int64_t away = std::abs(start - time_.start_ns);
      const bool ends_else = time_.end_ns && events.end_ns[i] != *time_.end_ns;
      if (away > away_ || (away == away_ && (ends_else || !ends_else_))) continue;
      away_ = away;
      ends_else_ = ends_else;
      best_ = Call{process, kind, i, start, events.end_ns[i] - start};
    }
  }

  std::optional<Call> found() const {
    if (!best_ || time_.start_ns < first_ns_ || time_.start_ns > last_ns_) return std::nullopt;
    Call call = *best_;
    if (away_ == 0) return call;
    const std::int64_t end = std::max(time_.end_ns.value_or(time_.start_ns), time_.start_ns);
    const std::int64_t margin = end > time_.start_ns ? (end - time_.start_ns) / 2 : kAround;
    call.around = Interval{time_.start_ns - margin, end + margin};
    return call;
  }

 private:
  RowTime time_;
  std::optional<Call> best_;
  std::int64_t away_ = std::numeric_limits<std::int64_t>::max();
  bool ends_else_ = true;
  std::int64_t first_ns_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace

bool has_time(const Table& result) { return start_column(result).has_value(); }

std::optional<RowTime> time_of(const Table& result, std::size_t row) {
  const auto start = whole_number(result, row, start_column(result));
  if (!start) return std::nullopt;
  return RowTime{*start, whole_number(result, row, find_named(result, {"end"}))};
}

std::optional<Call> call_at(const Trace& trace, std::optional<std::int32_t> rank, const RowTime& time) {
  Nearest nearest(time);
  for (std::uint32_t r = 0; r < trace.ranks.size(); ++r) {
    const Rank& events = trace.ranks[r];
    if (rank && events.run.rank != *rank) continue;
    nearest.look(r, LaneKind::kKernels, events.gpu);
    nearest.look(r, LaneKind::kRanges, events.ranges);
    nearest.look(r, LaneKind::kCalls, events.api);
  }
  return nearest.found();
}

}  // namespace swinscope::gui
