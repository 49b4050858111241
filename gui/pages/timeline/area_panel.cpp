#include "gui/pages/timeline/area_panel.h"

#include <QLabel>
#include <QScrollArea>
#include <QTabWidget>
#include <QVBoxLayout>

#include "analyzer/base/text.h"
#include "gui/core/evidence.h"
#include "gui/pages/timeline/flame_widget.h"
#include "gui/widgets/table_panel.h"

namespace swinscope::gui {
namespace {

constexpr const char* kNoArea = "Drag over the timeline to select an area, or select an event and press R.";

QString text_of(std::string_view text) { return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())); }

}  // namespace

AreaPanel::AreaPanel(QWidget* parent)
    : QWidget(parent),
      summary_(new QLabel(QString::fromUtf8(kNoArea), this)),
      tabs_(new QTabWidget(this)),
      lanes_(new TablePanel(QStringLiteral("Lanes of the area"), this)),
      flames_(new FlameWidget(this)),
      flame_area_(new QScrollArea(this)) {
  summary_->setObjectName(QStringLiteral("area_summary"));
  summary_->setWordWrap(true);
  summary_->setMargin(4);
  summary_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  tabs_->setDocumentMode(true);
  for (int i = 0; i < kAreaKinds; ++i) {
    const QString title = text_of(area_kind_name(static_cast<AreaKind>(i)));
    TablePanel* table = names_.emplace_back(new TablePanel(title + QStringLiteral(" of the area"), this));
    connect(table, &TablePanel::row_activated, this, [this, table](int row) {
      if (row >= 0)
        Q_EMIT name_chosen(QString::fromStdString(
            text_in(table->model_of_rows().table(), static_cast<std::size_t>(row), "full_name")));
    });
    tabs_->addTab(table, title);
  }
  flame_area_->setWidget(flames_);
  flame_area_->setWidgetResizable(true);
  flame_area_->setFrameShape(QFrame::NoFrame);
  flame_area_->setAccessibleName(QStringLiteral("Flame graph"));
  tabs_->addTab(lanes_, QStringLiteral("Lanes"));
  tabs_->addTab(flame_area_, QStringLiteral("Flame graph"));
  auto* rows = new QVBoxLayout(this);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(0);
  rows->addWidget(summary_);
  rows->addWidget(tabs_, 1);
  clear();
}

void AreaPanel::clear() {
  summary_->setText(QString::fromUtf8(kNoArea));
  for (TablePanel* table : names_)
    table->set_table({});
  lanes_->set_table({});
  flames_->set_graph(nullptr, {});
  tabs_->setVisible(false);
}

void AreaPanel::show_contents(std::shared_ptr<const Timeline> timeline, AreaContents contents, Interval window,
                              std::size_t lanes, const QString& only) {
  const AreaStatistics& all = contents.all;
  QString text = QStringLiteral("Δt %1 · %2 events in %3 lanes")
                     .arg(QString::fromStdString(format_duration(window.length())),
                          QString::fromStdString(format_count(static_cast<std::int64_t>(all.count))))
                     .arg(lanes);
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const AreaStatistics& kind = contents.by_kind[i];
    if (kind.count == 0) continue;
    // What is nested counts once: the sum of all ranges would be longer than the time.
    const bool is_nested =
        i == static_cast<std::size_t>(AreaKind::kOperations) || i == static_cast<std::size_t>(AreaKind::kRanges);
    text += QStringLiteral(" · %1 %2")
                .arg(QString::fromStdString(format_count(static_cast<std::int64_t>(kind.count))),
                     tabs_->tabText(static_cast<int>(i)));
    if (!is_nested) text += QStringLiteral(" %1").arg(QString::fromStdString(format_duration(kind.sum_ns)));
  }
  if (!only.isEmpty()) text += QStringLiteral(" · only names with “%1”").arg(only);
  summary_->setText(text);
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const bool is_nested = !contents.names[i].columns.empty() && !contents.names[i].columns[4].detail;
    tabs_->setTabVisible(static_cast<int>(i), !contents.names[i].rows.empty());
    names_[i]->set_table(std::move(contents.names[i]), is_nested ? "self_ns" : "total_ns");
  }
  lanes_->set_table(std::move(contents.lanes));
  tabs_->setTabVisible(tabs_->indexOf(flame_area_), contents.flames.nodes.size() > 1);
  flames_->set_graph(std::move(timeline), std::move(contents.flames));
  tabs_->setVisible(true);
}

QString AreaPanel::summary() const { return summary_->text(); }

QStringList AreaPanel::tabs() const {
  QStringList titles;
  for (int i = 0; i < tabs_->count(); ++i)
    if (tabs_->isTabVisible(i)) titles << tabs_->tabText(i);
  return titles;
}

}  // namespace swinscope::gui
