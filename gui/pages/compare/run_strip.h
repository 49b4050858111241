// The runs of a comparison, a row each: which one is the base, what a GPU hour of it costs, and the way out.
#pragma once

#include <QStringList>
#include <QWidget>
#include <vector>

class QButtonGroup;
class QGridLayout;
class QLabel;

namespace swinscope::gui {

class ComparedRuns;
struct ComparedPath;

class RunStrip : public QWidget {
  Q_OBJECT

 public:
  explicit RunStrip(QWidget* parent = nullptr);

  // What they are now, and what is known of them.
  void show_runs(const ComparedRuns& runs);

 Q_SIGNALS:
  void base_chosen(std::size_t index);
  void removed(std::size_t index);
  void priced(std::size_t index, double per_hour);

 private:
  void rebuild(const std::vector<ComparedPath>& runs);
  void add_row(const ComparedPath& run, int row);

  QGridLayout* grid_;
  QButtonGroup* bases_;
  std::vector<QWidget*> parts_;
  std::vector<QLabel*> states_;  // of the runs
  QStringList paths_;
};

}  // namespace swinscope::gui
