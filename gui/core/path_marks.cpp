#include "gui/core/path_marks.h"

#include <algorithm>

#include "advisor/advice.h"
#include "advisor/critical_path.h"
#include "analyzer/base/text.h"
#include "analyzer/table/render.h"

namespace swinscope::gui {
namespace {

// Puts the pieces of a path where their events are.
class Marker {
 public:
  Marker(const Timeline& timeline, const DependencyGraph& graph, const Replay& replayed)
      : timeline_(timeline), graph_(graph), replay_(replayed) {
    marks_.resize(timeline.lanes.size());
  }

  void add(const PathPiece& piece) {
    const RankGraph& nodes = graph_.ranks[piece.rank];
    const RankTimes& times = replay_.ranks[piece.rank];
    const auto process = static_cast<std::uint32_t>(nodes.rank_index);
    if (piece.cause == PathCause::kDelay) return;  // between two events that are marked
    if (piece.op != kNoNode) {
      const TimelineEventId work = timeline_.find(process, LaneKind::kKernels, nodes.ops[piece.op].event);
      mark_part(work, piece, times.ops[piece.op].end_ns);
    } else if (piece.call != kNoNode) {
      const TimelineEventId call = timeline_.find(process, LaneKind::kCalls, nodes.calls[piece.call].event);
      if (piece.cause == PathCause::kHost) {
        mark_behind(call, piece.time.length());
      } else {
        mark_part(call, piece, times.calls[piece.call].end_ns);
      }
    }
  }

  std::vector<std::vector<Interval>> take() {
    for (std::vector<Interval>& lane : marks_)
      join(lane);
    return std::move(marks_);
  }

 private:
  // As far before the recorded end as it is before the replayed one: of a call that waits what is behind the wait.
  void mark_part(TimelineEventId id, const PathPiece& piece, std::int64_t replayed_end_ns) {
    if (id.position == kNoPosition) return;
    const LaneEvent event = timeline_.event(id);
    const std::int64_t shift_ns = event.end_ns() - replayed_end_ns;
    const std::int64_t begin_ns = std::clamp(piece.time.begin_ns + shift_ns, event.start_ns, event.end_ns());
    const std::int64_t end_ns = std::clamp(piece.time.end_ns + shift_ns, event.start_ns, event.end_ns());
    if (end_ns > begin_ns) marks_[id.lane].push_back({begin_ns, end_ns});
  }
  // Up to the next call at most.
  void mark_behind(TimelineEventId id, std::int64_t length_ns) {
    if (id.position == kNoPosition) return;
    const TimelineLane& lane = timeline_.lanes[id.lane];
    const std::int64_t begin_ns = lane.event_end_ns(id.position);
    std::int64_t end_ns = begin_ns + length_ns;
    if (id.position + 1 < lane.size()) end_ns = std::min(end_ns, lane.start_ns(id.position + 1));
    if (end_ns > begin_ns) marks_[id.lane].push_back({begin_ns, end_ns});
  }
  static void join(std::vector<Interval>& intervals) {
    std::ranges::sort(intervals, {}, &Interval::begin_ns);
    std::vector<Interval> joined;
    for (const Interval& interval : intervals) {
      if (!joined.empty() && interval.begin_ns <= joined.back().end_ns) {
        joined.back().end_ns = std::max(joined.back().end_ns, interval.end_ns);
      } else {
        joined.push_back(interval);
      }
    }
    intervals = std::move(joined);
  }

  const Timeline& timeline_;
  const DependencyGraph& graph_;
  const Replay& replay_;
  std::vector<std::vector<Interval>> marks_;
};

// The causes that take most of the path.
QString summary_of(const CriticalPath& path) {
  constexpr std::size_t kCauses = 3;
  Table causes = path_cause_table(path);
  sort_rows(causes, "share_percent");
  const std::size_t cause = find_column(causes, "cause");
  const std::size_t share = find_column(causes, "share_percent");
  QStringList parts;
  for (std::size_t i = 0; i < std::min(kCauses, causes.rows.size()); ++i) {
    parts << QString::fromStdString(std::get<std::string>(causes.rows[i][cause]) + " " +
                                    format_cell(causes.rows[i][share], Unit::kPercent));
  }
  return QStringLiteral("of %1: %2")
      .arg(QString::fromStdString(format_counted(path.steps, "steps")), parts.join(QStringLiteral(", ")));
}

Problem refusal_of(const ReplayError& error, double bound) {
  return {
      QStringLiteral("the critical path cannot be said"),
      QStringLiteral("the replay of the step as it is takes %1, the trace %2: %3 % apart, more than %4 %")
          .arg(QString::fromStdString(format_duration(error.replayed_step_ns)),
               QString::fromStdString(format_duration(error.traced_step_ns)))
          .arg(100 * error.step_error(), 0, 'f', 1)
          .arg(100 * bound, 0, 'f', 0),
      QStringLiteral("choose other steps, or record what waited for what: swinscope record --trace cuda,nvtx,sync")};
}

}  // namespace

PathMarks path_marks(const OpenedRun& run, const Selection& selection) {
  PathMarks marks;
  try {
    const std::shared_ptr<const RunFacts> facts = run.shared->of(run.trace, selection);
    const DependencyGraph graph = make_graph(*facts);
    const Replay replayed = replay(graph);
    const ReplayError error = replay_error(graph, replayed, *facts);
    if (const double bound = AdviceOptions().bound; error.step_error() > bound) {
      marks.problem = refusal_of(error, bound);
      return marks;
    }
    const CriticalPath path = find_critical_path(graph, replayed, *facts);
    Marker marker(*run.timeline, graph, replayed);
    for (const PathPiece& piece : path.pieces)
      marker.add(piece);
    marks.by_lane = marker.take();
    marks.summary = summary_of(path);
  } catch (const Error& error) {
    marks.problem = problem_of(error);
  } catch (const std::exception& error) {
    marks.problem = problem_of(error);
  }
  return marks;
}

}  // namespace swinscope::gui
