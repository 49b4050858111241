// An analysis of the registry as a table, layers also as a tree, with the calls that its rows stand for; or all
// analyses, of which a list chooses one.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "gui/core/analysis_rows.h"
#include "gui/core/background.h"
#include "gui/pages/computed_page.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QSplitter;
class QTreeView;
class QTreeWidget;
class QVBoxLayout;

namespace swinscope::gui {

class CallsPanel;
class LayerTreeView;
class TablePanel;
class TableTitle;

enum class RowsLook : std::uint8_t { kTable, kLayerTree };

class TablePage : public ComputedPage {
  Q_OBJECT

 public:
  // All analyses.
  explicit TablePage(QWidget* parent = nullptr);
  // The one with this key.
  TablePage(std::string_view analysis, RowsLook look, QWidget* parent = nullptr);

  bool has(ActionId action) const override;
  bool can_perform(ActionId action) const override;
  void perform(ActionId action) override;
  void present(const Evidence& evidence) override;
  QString command() const override;

  // As the list does.
  void choose(const Analysis& analysis);
  // Its rows as they are shown, with all columns; .csv, .json or .md.
  bool export_table(const QString& path);

  TablePanel& table() { return *table_; }  // of the look kTable
  QTreeView& tree();                       // of kLayerTree
  CallsPanel& calls() { return *calls_; }
  // Index into RowKind::groupings.
  void group_by(std::size_t grouping);
  QString sum() const;
  QLabel& title() const;

 protected:
  void compute() override;
  void forget() override;
  bool is_computing() const override { return !counting_.is_idle() || !collecting_.is_idle(); }
  void show_content(bool is_shown) override;

 private:
  // Of an analysis, for the filter.
  struct Counted {
    std::shared_ptr<const RunFacts> run;  // null where nothing meets the filter
    Table table;
  };
  TablePage(const Analysis& analysis, RowsLook look, QWidget* parent);
  void build_layout();
  QWidget& rows() const;
  QWidget* build_list();
  // For another thread.
  static Counted counted(const OpenedRun& run, const Analysis& analysis, const Filter& filter, RowsLook look,
                         std::size_t grouping);
  void build_groupings(QVBoxLayout& column);
  void show_sum();
  void show_rows(Counted counted);
  const RowKind& kind() const { return row_kind(analysis_->key); }
  void show_calls(const std::optional<Called>& called);
  void activate_row(int row);
  Table shown_table() const;
  // Empty where rows are left out.
  QString export_command() const;
  void select_called(const Called& called);
  void show_menu(QPoint place);  // of the selected row, on the screen

  const Analysis* analysis_;
  const RowsLook look_;
  RunPointer counted_of_;
  Counted counted_;
  Called selected_;  // kept when the filter changes

  QSplitter* parts_;    // the list, and what it chooses
  QSplitter* content_;  // rows and calls
  TableTitle* title_;
  QLineEdit* find_ = nullptr;  // with the list
  QComboBox* by_ = nullptr;    // of a page of one analysis whose rows can be grouped
  std::size_t grouping_ = 0;
  QLabel* sum_;  // below the rows
  TablePanel* table_ = nullptr;
  LayerTreeView* tree_ = nullptr;
  CallsPanel* calls_;
  Background counting_;
  Background collecting_;
};

}  // namespace swinscope::gui
