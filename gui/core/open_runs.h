// What is open: runs, experiments and comparisons, which of them is loading, and which one is shown.
#pragma once

#include <QObject>
#include <string>
#include <vector>

#include "gui/core/entries.h"
#include "gui/core/loader.h"
#include "gui/core/run_watch.h"

namespace swinscope::gui {

class OpenRuns : public QObject {
  Q_OBJECT

 public:
  explicit OpenRuns(QObject* parent = nullptr);

  // Traces, run folders, experiments, foreign files; the first one is loaded.
  void open(const QStringList& paths);
  // An entry by its place in titles(); nothing happens where there is none.
  void load(int index);
  void reload() { load(loading_); }
  bool can_reload() const { return loading_ >= 0; }
  // The comparison that the session is of, again.
  void load_comparison();
  // Beside experiments, the results that others have published.
  void show_published(bool with_published);
  bool with_published() const { return with_published_; }

  const Session& session() const { return session_; }
  bool shows(const QString& path) const;  // the run at the path, with its analyses
  QStringList titles() const { return entries_.titles(); }
  // Of titles(): what is loading, else what is shown; -1: nothing.
  int place() const { return loader_.is_loading() || shown_ < 0 ? loading_ : shown_; }
  // Of what is shown; empty: nothing.
  QString title() const { return entries_.has(shown_) ? entries_.at(shown_).title : QString(); }
  Loader& loader() { return loader_; }
  const Loader& loader() const { return loader_; }

 Q_SIGNALS:
  // `is_more` of the run that was shown already: the user's view of it stays.
  void session_changed(bool is_more);
  void places_changed();                           // titles() or place()
  void opened_together(const QStringList& paths);  // runs; the first one is loaded
  // It is whole. `others` were opened with it and are not loaded.
  void run_loaded(const swinscope::gui::RunPointer& run, qsizetype others);
  void opened(const QString& path);  // it could be read: worth to be offered again
  void warned(const std::vector<std::string>& warnings);
  void said(const QString& text);
  // What is on the screen stays.
  void unfinished(const swinscope::gui::Problem& problem);

 private:
  void connect_loader();
  void connect_watch();
  void set_session(const Session& session);
  void forget_unreadable();

  Loader loader_;
  Entries entries_;
  int shown_ = -1;
  int loading_ = -1;  // the one that was asked for last
  Session session_;
  bool with_published_ = false;
  RunWatch watch_;        // of the run that is shown
  qsizetype others_ = 0;  // runs that were opened with the one that is loading
};

}  // namespace swinscope::gui
