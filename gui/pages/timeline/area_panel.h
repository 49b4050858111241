// What the selected area holds: a line of sums, a tab for each kind of events that it has, its lanes, and the nesting
// of its ranges as a flame graph.
#pragma once

#include <QWidget>
#include <memory>
#include <vector>

#include "gui/core/area_tables.h"

class QLabel;
class QScrollArea;
class QTabWidget;

namespace swinscope::gui {

class FlameWidget;
class TablePanel;

class AreaPanel : public QWidget {
  Q_OBJECT

 public:
  explicit AreaPanel(QWidget* parent = nullptr);

  void clear();
  // `only`: the part of a name that events had to have; empty: all.
  void show_contents(std::shared_ptr<const Timeline> timeline, AreaContents contents, Interval window,
                     std::size_t lanes, const QString& only);
  QString summary() const;
  // The titles of the tabs, from left to right.
  QStringList tabs() const;
  TablePanel& names(AreaKind kind) { return *names_[static_cast<std::size_t>(kind)]; }
  FlameWidget& flames() { return *flames_; }

 Q_SIGNALS:
  // A row was chosen: the full name of its events.
  void name_chosen(const QString& name);

 private:
  QLabel* summary_;
  QTabWidget* tabs_;
  std::vector<TablePanel*> names_;  // by AreaKind
  TablePanel* lanes_;
  FlameWidget* flames_;
  QScrollArea* flame_area_;
};

}  // namespace swinscope::gui
