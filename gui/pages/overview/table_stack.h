// Tables below each other, each with its title and as high as its rows need.
#pragma once

#include <QWidget>
#include <functional>
#include <string>
#include <vector>

#include "analyzer/table/table.h"

class QVBoxLayout;

namespace swinscope::gui {

class TablePanel;
class TableTitle;

class TableStack : public QWidget {
  Q_OBJECT

 public:
  explicit TableStack(QWidget* parent = nullptr);

  // `most_rows`: that are seen at once.
  void add(const Table& table, int most_rows = 12);
  void clear();
  const std::vector<TablePanel*>& panels() const { return panels_; }
  const std::vector<TableTitle*>& titles() const { return titles_; }  // in the order of the panels
  // nullptr for none.
  TablePanel* find(const std::string& key) const;

 Q_SIGNALS:
  // `column`: its key; empty for none.
  void cell_activated(const swinscope::Table& table, std::size_t row, const std::string& column);

 private:
  QVBoxLayout* column_;
  std::vector<TablePanel*> panels_;
  std::vector<TableTitle*> titles_;
};

}  // namespace swinscope::gui
