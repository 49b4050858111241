#include "gui/program/screenshot.h"

#include <QApplication>
#include <algorithm>
#include <cstdio>

#include "gui/core/write_whole.h"
#include "gui/pages/timeline/search_bar.h"
#include "gui/pages/timeline/timeline_page.h"
#include "gui/pages/timeline/timeline_view.h"
#include "gui/widgets/banner.h"
#include "gui/widgets/png.h"
#include "gui/window/main_window.h"

namespace swinscope::gui {
namespace {

constexpr int kLookMs = 20;

}  // namespace

Screenshot::Screenshot(MainWindow& window, ScreenshotOptions options) : window_(window), options_(std::move(options)) {
  connect(&timer_, &QTimer::timeout, this, &Screenshot::look);
  timer_.start(kLookMs);
}

void Screenshot::look() {
  if (!window_.is_settled() || !find()) {
    looks_settled_ = 0;
    return;
  }
  // What was shown last asks for its place in events of its own: one goes to the widget, the next to what scrolls it.
  constexpr int kLooks = 3;
  if (++looks_settled_ < kLooks) return;
  timer_.stop();
  if (!options_.file.isEmpty()) take();
}

// In two steps, since the search takes its time: true when there is nothing left to do.
bool Screenshot::find() {
  if (options_.find.isEmpty() || has_found_) return true;
  auto* timeline = window_.findChild<TimelinePage*>();
  if (!has_searched_) {
    has_searched_ = true;
    timeline->search().start();
    timeline->search().set_text(options_.find);
    return false;
  }
  has_found_ = true;
  window_.perform(ActionId::kNextHit);
  window_.perform(ActionId::kZoomSelection);
  for (int i = 0; i < 6; ++i)  // some of the surroundings
    window_.perform(ActionId::kZoomOut);
  window_.perform(ActionId::kSelectArea);
  timeline->view().setFocus();
  return false;
}

void Screenshot::take() {
  const auto problem = write_whole(options_.file, png_of(window_));
  if (problem) {
    std::fprintf(stderr, "error: %s: %s\n", qUtf8Printable(problem->what), qUtf8Printable(problem->cause));
  }
  const bool has_failed = !window_.banner().text().isEmpty() && window_.run() == nullptr;
  if (has_failed) std::fprintf(stderr, "error: %s\n", qUtf8Printable(window_.banner().text()));
  QApplication::exit(problem || has_failed ? 1 : 0);
}

}  // namespace swinscope::gui
