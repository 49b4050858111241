// Where the user is: the run, its experiment, the page, the place on it; steps that lead somewhere are links.
#pragma once

#include <QLabel>
#include <QList>

namespace swinscope::gui {

struct Crumb {
  QString text;
  QString target = {};  // linkActivated() says it; empty: no link
};

class Breadcrumbs : public QLabel {
  Q_OBJECT

 public:
  explicit Breadcrumbs(QWidget* parent = nullptr);

  void show_crumbs(const QList<Crumb>& crumbs);
  // As it is read: without links.
  QString plain() const;

 protected:
  void changeEvent(QEvent* event) override;
};

}  // namespace swinscope::gui
