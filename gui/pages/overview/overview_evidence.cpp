// Where the figures of the first page lead: to runs of an experiment, and to what they are from.
#include <QDir>
#include <QPushButton>
#include <QScrollArea>
#include <algorithm>

#include "analyzer/experiment/work_difference.h"
#include "gui/core/cell_evidence.h"
#include "gui/core/run_command.h"
#include "gui/pages/overview/overview_page.h"
#include "gui/pages/overview/table_stack.h"
#include "gui/widgets/table_panel.h"

namespace swinscope::gui {

// Its recording, where the causes are; where there is none, its first timing run.
void OverviewPage::open_point(std::size_t index) {
  if (index >= experiment_->points.size()) return;
  const ExperimentPoint& point = experiment_->points[index].point;
  const QString folder = QString::fromStdString(point.folder.string());
  if (point.tracing.empty() && point.timing.empty()) {
    Q_EMIT problem(
        {QStringLiteral("%1: nothing to open").arg(folder), QStringLiteral("its times were given, not recorded"), {}});
    return;
  }
  const std::string run = point.tracing.empty() ? point.timing.front() : point.tracing;
  Q_EMIT open_requested({QDir(folder).filePath(QString::fromStdString(run))});
}

void OverviewPage::open_evidence(const Table& table, std::size_t row) {
  const auto point = std::ranges::find(experiment_->points, text_in(table, row, "point"), &OpenedPoint::name);
  if (point == experiment_->points.end()) return;
  const std::string part = text_in(table, row, "part");
  const std::string kernel = text_in(table, row, "kernel");
  Evidence evidence =
      kernel.empty() ? evidence_of_part(part, text_in(table, row, "largest")) : evidence_of_part({}, kernel);
  // What is gone is seen where it was.
  const bool is_of_base = part == "base_step" || text_in(table, row, "verdict") == change_name(ChangeVerdict::kGone);
  const ExperimentPoint& traced = is_of_base ? experiment_->points[point->base].point : point->point;
  evidence.path = QString::fromStdString((traced.folder / traced.tracing).string());
  Q_EMIT evidence_requested(evidence);
}

// Of a run what it is bound by; of an experiment the recording that the sentence is of.
void OverviewPage::open_verdict() {
  for (std::size_t i = 0; experiment_ != nullptr && i < experiment_->points.size(); ++i) {
    const ExperimentPoint& point = experiment_->points[i].point;
    const std::string run = (point.folder / point.tracing).string();
    if (evidence_->toolTip().contains(QString::fromStdString(run))) return open_point(i);
  }
  if (run_ == nullptr) return;
  const auto& facts = run_->analyzed.document.facts;
  const auto bound = std::ranges::find(facts, "bound_by", &Fact::key);
  const auto* name = bound == facts.end() ? nullptr : std::get_if<std::string>(&bound->value);
  Q_EMIT evidence_requested(evidence_of_bound(name == nullptr ? QString() : QString::fromStdString(*name)));
}

void OverviewPage::open_series(const QString& name) {
  if (const auto index = comparison_->names.indexOf(name); index >= 0)
    Q_EMIT open_requested({comparison_->paths[index]});
}

void OverviewPage::activate_cell(const Table& table, std::size_t row, const std::string& column) {
  if (experiment_ != nullptr) return table.key == "points" ? open_point(row) : open_evidence(table, row);
  if (table.key == "comparison") return open_series(QString::fromStdString(text_in(table, row, "series")));
  if (run_ == nullptr) return;
  Evidence evidence = evidence_of_cell(table, row, column);
  if (evidence.page.isEmpty())
    evidence = {.page = QStringLiteral("tables"), .analysis = QString::fromStdString(table.key)};
  Q_EMIT evidence_requested(evidence);
}

void OverviewPage::present(const Evidence& evidence) {
  TablePanel* panel = tables_->find(evidence.analysis.toStdString());
  if (panel == nullptr) return;
  panel->setFocus();
  panel->select_row(panel->model()->rowCount() - 1);  // the point that the figures are of
  scroll_->ensureWidgetVisible(panel);
}

QString OverviewPage::command() const {
  if (run_ != nullptr) return run_command({QStringLiteral("analyze")}, {run_->path}, filter_);
  if (experiment_ != nullptr) return run_command({QStringLiteral("analyze")}, {experiment_->path});
  return comparison_ == nullptr ? QString() : run_command({QStringLiteral("compare")}, comparison_->paths);
}

}  // namespace swinscope::gui
