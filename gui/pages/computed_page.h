// A page whose content is computed of the run beside the window, once the page is seen: that takes its time, and many
// pages are never looked at. Until there is content a message stands in its place.
#pragma once

#include "gui/core/opened.h"
#include "gui/pages/page.h"

class QLabel;

namespace swinscope::gui {

class ComputedPage : public Page {
  Q_OBJECT

 public:
  void set_session(const Session& session) final;
  void set_filter(const Filter& filter) final;
  void set_unfinished() final;
  bool is_settled() const final { return !(is_stale_ && isVisible()) && !is_computing(); }
  // In place of the content; empty while that is shown.
  QString message() const;

 protected:
  // `name`: of the message's widget.
  ComputedPage(const QString& name, QWidget* parent);

  const RunPointer& run() const { return run_; }
  const Filter& filter() const { return filter_; }
  // For the layout.
  QLabel& message_label() { return *message_; }
  // Instead of the content; empty: the content.
  void show_message(const QString& text);

  // Begins to compute what is of run() and filter(), whose trace is there; whoever does it ends with show_message().
  virtual void compute() = 0;
  // What is being computed no longer matters.
  virtual void forget() = 0;
  virtual bool is_computing() const = 0;
  virtual void show_content(bool is_shown) = 0;
  // Whether other content is to be computed for filter() than for the one before; where not, the page does itself what
  // there is to do.
  virtual bool is_of_another(const Filter& /*before*/) { return true; }
  // Why there is nothing while no run is open.
  virtual QString without_run(const Session& session) const;

  // What is shown is of something else than what is wanted by now: it is computed again, once it is seen.
  void invalidate();

  void showEvent(QShowEvent* event) override;

 private:
  void refresh();

  RunPointer run_;
  QString without_run_;
  Filter filter_;
  bool is_unfinished_ = false;
  bool is_stale_ = true;  // what is shown is of another run or another part of it
  QLabel* message_;
};

// A label of plain text that wraps and can be selected.
QLabel* wrapped_label(const QString& name, QWidget* parent);

}  // namespace swinscope::gui
