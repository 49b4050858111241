// Going through the idle gaps on the timeline page, the longest first: found beside the window, shown as an area of the
// device and of the thread that it waited for.
#include "gui/core/gap_place.h"
#include "gui/pages/timeline/details_panel.h"
#include "gui/pages/timeline/timeline_page.h"
#include "gui/pages/timeline/timeline_view.h"

namespace swinscope::gui {

// `by`: 1 for the next shorter one, -1 for the next longer one; behind the shortest comes the longest.
void TimelinePage::go_to_gap(int by) {
  const std::size_t number = !gap_ ? 0 : by > 0 ? *gap_ + 1 : (*gap_ == 0 ? gaps_ : *gap_) - 1;
  find_gap(gap_ && number == gaps_ ? 0 : number);
}

void TimelinePage::find_gap(std::size_t number) {
  if (run_ == nullptr || run_->trace == nullptr || run_->timeline->preview) {
    Q_EMIT said(QStringLiteral("idle gaps are known when the run is analyzed"));
    return;
  }
  finding_gap_.start(
      [run = run_, selection = selection_, number] { return std::pair(number, gap_place(*run, selection, number)); },
      [this](const std::pair<std::size_t, GapPlace>& found) { show_gap(found.first, found.second); });
}

void TimelinePage::show_gap(std::size_t number, const GapPlace& gap) {
  if (gap.gaps == 0) {
    Q_EMIT said(QStringLiteral("no device was idle between its events"));
    return;
  }
  view_->clear_selection();
  view_->select_area({gap.window, gap.lanes});
  const std::int64_t margin = gap.window.length() / 2;
  view_->show_window({gap.window.begin_ns - margin, gap.window.end_ns + margin});
  details_->set_table(gap.details);
  gap_ = number;
  gaps_ = gap.gaps;
  Q_EMIT said(gap.summary);
}

// Of another run or selection there are others.
void TimelinePage::forget_gap() {
  finding_gap_.forget();
  gap_.reset();
}

}  // namespace swinscope::gui
