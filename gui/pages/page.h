// What the window needs of a page: it is told what is open and what of it to show, and asks for the rest by signals.
#pragma once

#include <QWidget>

#include "gui/core/actions.h"
#include "gui/core/calls.h"
#include "gui/core/evidence.h"
#include "gui/core/filter.h"
#include "gui/core/opened.h"
#include "gui/core/problem.h"

namespace swinscope::gui {

// Who derives from it sets a focus proxy: the widget that takes the keys when the page is shown.
class Page : public QWidget {
  Q_OBJECT

 public:
  using QWidget::QWidget;

  virtual void set_session(const Session& session) = 0;
  virtual void set_filter(const Filter& filter) = 0;
  // The analyses of the run will not come: loading it failed or was cancelled.
  virtual void set_unfinished() {}

  // Whether the action is one of this page, whatever is open.
  virtual bool has(ActionId /*action*/) const { return false; }
  // Of one that it has: whether it would do something now.
  virtual bool can_perform(ActionId /*action*/) const { return false; }
  virtual void perform(ActionId /*action*/) {}
  // Of one that it has and that switches something: whether that is on.
  virtual bool is_on(ActionId /*action*/) const { return false; }
  // Selects and zooms to it. False where the page does not show it.
  virtual bool show_call(const Call& /*call*/) { return false; }

  // What of it is to be seen; the run is open already, and its name is in the filter where the page has rows.
  virtual void present(const Evidence& /*evidence*/) {}

  // Runs that were opened at once: they can be compared, the first one is the base.
  virtual void compare_runs(const QStringList& /*paths*/) {}

  // Nothing is being computed: what it shows is final.
  virtual bool is_settled() const { return true; }
  // What of the run can be seen, for the breadcrumbs: "12.3 ms to 15.0 ms".
  virtual QString place() const { return {}; }
  // That prints in a terminal what it shows; empty: nothing is shown, or no command prints it.
  virtual QString command() const { return {}; }
  // How the user has arranged it; kept between two starts.
  virtual QByteArray arrangement() const { return {}; }
  virtual void arrange(const QByteArray& /*arrangement*/) {}

 Q_SIGNALS:
  // The evidence of a figure is on another page: its id.
  void page_requested(const QString& id);
  // It may be of another run.
  void evidence_requested(const swinscope::gui::Evidence& evidence);
  void call_requested(const swinscope::gui::Call& call);
  // Of the filter: only what has this in its name.
  void name_requested(const QString& name);
  void open_requested(const QStringList& paths);
  // What it can perform, or its place.
  void changed();
  void said(const QString& text);  // for the status bar
  void problem(const swinscope::gui::Problem& problem);
};

}  // namespace swinscope::gui
