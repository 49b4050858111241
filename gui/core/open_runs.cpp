#include "gui/core/open_runs.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "analyzer/experiment/comparison.h"

namespace swinscope::gui {

OpenRuns::OpenRuns(QObject* parent) : QObject(parent) {
  connect_loader();
  connect_watch();
}

void OpenRuns::open(const QStringList& paths) {
  if (paths.isEmpty()) return;
  QStringList runs;
  std::ranges::copy_if(paths, std::back_inserter(runs),
                       [](const QString& path) { return experiments_at(path.toStdString()).empty(); });
  others_ = runs.size() - 1;
  load(entries_.add(paths));
  if (runs.size() > 1) Q_EMIT opened_together(runs);
}

void OpenRuns::load(int index) {
  if (!entries_.has(index)) return;
  loading_ = index;
  Q_EMIT places_changed();
  const Entry& entry = entries_.at(index);
  if (!entry.compared.isEmpty()) {
    loader_.load_comparison(entry.compared, with_published_);
  } else if (entry.is_experiment && with_published_) {
    loader_.load_comparison({entry.path}, true);
  } else {
    loader_.load(entry.path);
  }
}

void OpenRuns::load_comparison() {
  if (session_.comparison != nullptr) load(entries_.find_comparison(session_.comparison->paths));
}

void OpenRuns::show_published(bool with_published) {
  with_published_ = with_published;
  load(shown_);
}

bool OpenRuns::shows(const QString& path) const {
  return session_.run != nullptr && session_.run->trace != nullptr && session_.run->path == path;
}

void OpenRuns::connect_loader() {
  connect(&loader_, &Loader::timeline_ready, this, [this](const RunPointer& run) {
    const bool of_experiment = entries_.at(loading_).is_of_experiment && session_.experiment != nullptr;
    set_session(of_experiment ? Session{run, session_.experiment, session_.comparison} : Session{run, {}, {}});
  });
  connect(&loader_, &Loader::run_loaded, this, [this](const RunPointer& run) {
    Q_EMIT opened(run->path);
    Q_EMIT warned(run->trace->warnings);
    watch_.watch(run->path);
    const qsizetype others = std::exchange(others_, 0);
    Q_EMIT run_loaded(run, others);
    if (watch_.is_recording()) Q_EMIT said(QStringLiteral("still being recorded: F5 reads what has come since"));
  });
  connect(&loader_, &Loader::experiment_loaded, this, [this](const ExperimentPointer& experiment) {
    Q_EMIT opened(experiment->path);
    entries_.add_runs_of(loading_, experiment->experiment);
    const bool is_compared = session_.comparison != nullptr && session_.comparison->paths.contains(experiment->path);
    set_session({{}, experiment, is_compared ? session_.comparison : nullptr});
  });
  connect(&loader_, &Loader::comparison_loaded, this, [this](const ComparisonPointer& comparison) {
    Q_EMIT opened(entries_.at(loading_).path);
    set_session({{}, {}, comparison});
    Q_EMIT warned(comparison->document.warnings);
  });
  connect(&loader_, &Loader::failed, this, [this](const QString&, const Problem& problem) {
    forget_unreadable();
    Q_EMIT unfinished(problem);
    Q_EMIT places_changed();
  });
  connect(&loader_, &Loader::cancelled, this, [this](const QString& path) {
    Q_EMIT unfinished({QStringLiteral("%1: loading was cancelled").arg(path), {}, QStringLiteral("F5 loads it again")});
    Q_EMIT places_changed();
  });
}

void OpenRuns::connect_watch() {
  connect(&watch_, &RunWatch::grew, this,
          [this] { Q_EMIT said(QStringLiteral("there is more of this run: F5 reads it")); });
  connect(&watch_, &RunWatch::ended, this, [this] {
    if (loader_.is_loading()) return;
    Q_EMIT said(QStringLiteral("the recording has ended: it is read again"));
    load(shown_);
  });
}

void OpenRuns::set_session(const Session& session) {
  const bool is_more = is_more_of(session_.run, session.run);
  session_ = session;
  shown_ = loading_;
  if (session.run == nullptr || session.run->path != watch_.path()) watch_.watch({});
  Q_EMIT session_changed(is_more);
  Q_EMIT places_changed();
}

// What could not be read is not offered again.
void OpenRuns::forget_unreadable() {
  if (!entries_.has(loading_) || loading_ == shown_ || !entries_.remove(loading_)) return;
  if (loading_ < shown_) --shown_;
  loading_ = shown_;
}

}  // namespace swinscope::gui
