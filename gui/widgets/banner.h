// A message that does not stop anybody: what went wrong, why, and the next step, above the page until it is dismissed.
#pragma once

#include <QFrame>

#include "gui/core/problem.h"

class QLabel;

namespace swinscope::gui {

class Banner : public QFrame {
  Q_OBJECT

 public:
  explicit Banner(QWidget* parent = nullptr);

  void show_problem(const Problem& problem);
  // In the banner of a window; for widgets deep inside it.
  static void show_in(const QWidget& window, const Problem& problem);
  // What a trace says about itself: losses, cut-off recordings.
  void show_warnings(const QStringList& warnings);
  void dismiss();
  QString text() const;

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void set_background();
  void show_text(const QString& what, const QString& more, bool is_error);

  bool is_error_ = false;
  QLabel* icon_;
  QLabel* text_;
};

}  // namespace swinscope::gui
