#include "gui/pages/roofline/roofline_page.h"

#include <QLabel>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/core/analysis_rows.h"
#include "gui/core/run_command.h"
#include "gui/pages/roofline/roofline_chart.h"
#include "gui/pages/table_export.h"
#include "gui/widgets/table_panel.h"
#include "gui/widgets/table_title.h"

namespace swinscope::gui {
namespace {

const RowKind& layers() { return row_kind("layers"); }

}  // namespace

RooflinePage::RooflinePage(QWidget* parent)
    : ComputedPage(QStringLiteral("roofline_message"), parent),
      verdict_(wrapped_label(QStringLiteral("roofline_verdict"), this)),
      content_(new QSplitter(Qt::Vertical, this)),
      chart_(new RooflineChart(content_)),
      note_(wrapped_label(QStringLiteral("roofline_note"), content_)),
      title_(new TableTitle(content_)),
      rows_(new TablePanel(QStringLiteral("Layers under their roofs"), content_)) {
  build_layout();
  setFocusProxy(chart_);
  connect(chart_, &RooflineChart::current_changed, this, &RooflinePage::follow_dot);
  connect(chart_, &RooflineChart::activated, this, &RooflinePage::open_point);
  connect(rows_, &TablePanel::row_changed, this, &RooflinePage::follow_row);
  connect(rows_, &TablePanel::row_activated, this, [this](int row) {
    if (row >= 0) open_point(static_cast<std::size_t>(row));
  });
  show_message(QStringLiteral("No run is open."));
}

void RooflinePage::build_layout() {
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(8, 4, 8, 4);
  QFont bold = verdict_->font();
  bold.setBold(true);
  verdict_->setFont(bold);
  all->addWidget(verdict_);
  all->addWidget(&message_label(), 1);
  all->addWidget(content_, 1);
  auto* above = new QWidget(content_);
  auto* plot = new QVBoxLayout(above);
  plot->setContentsMargins(0, 0, 0, 0);
  plot->addWidget(chart_, 1);
  plot->addWidget(note_);
  auto* below = new QWidget(content_);
  auto* table = new QVBoxLayout(below);
  table->setContentsMargins(0, 0, 0, 0);
  table->addWidget(title_);
  table->addWidget(rows_, 1);
  content_->addWidget(above);
  content_->addWidget(below);
  content_->setChildrenCollapsible(false);
}

void RooflinePage::compute() {
  show_message(QStringLiteral("Adding up layers…"));
  computing_.start([run = run(), filter = filter()] { return computed(*run, filter); },
                   [this](Computed computed) { show_computed(std::move(computed)); });
}

// The points are those whose names pass, in the order of the rows.
RooflinePage::Computed RooflinePage::computed(const OpenedRun& run, const Filter& filter) {
  Computed computed;
  try {
    computed.run = run.shared->of(run.trace, filter.selection());
    computed.roofline = roofline(*computed.run);
    computed.rows =
        rows_of(*std::ranges::find(analyses(), std::string_view("roofline"), &Analysis::key), *computed.run, filter);
  } catch (const Error&) {  // nothing meets the selection
    return {};
  }
  keep_named(computed.rows, filter.name);
  std::erase_if(computed.roofline.points, [&](const RooflinePoint& point) {
    return find_row(layers(), computed.rows, {point.path, point.phase}) < 0;
  });
  computed.unit = QString::fromStdString(std::string(computed.run->scope.unit()));
  if (!computed.roofline.points.empty())
    computed.verdict = QString::fromStdString(roofline_verdict(computed.roofline, computed.run->scope));
  return computed;
}

void RooflinePage::show_content(bool is_shown) {
  content_->setVisible(is_shown);
  verdict_->setVisible(is_shown);
}

void RooflinePage::show_computed(Computed computed) {
  computed_ = std::move(computed);
  if (computed_.run == nullptr) return show_message(QStringLiteral("Nothing passes the filter."));
  if (computed_.roofline.points.empty()) {
    return show_message(QStringLiteral(
        "No layer can stand under a roof: none says its FLOPs and bytes, or what this GPU can do at most is not "
        "known.\n\nAnnotated programs (swin) say what each operation needs; torch.profiler does with "
        "record_shapes=True."));
  }
  verdict_->setText(computed_.verdict);
  title_->set_table(computed_.rows, *rows_);
  rows_->set_table(computed_.rows);
  chart_->set_roofline(computed_.roofline, computed_.unit);
  show_message({});
}

bool RooflinePage::can_perform(ActionId /*action*/) const {
  return computed_.run != nullptr && message().isEmpty() && !computed_.rows.rows.empty();
}

QString RooflinePage::command() const {
  return run() == nullptr || !message().isEmpty() ? QString()
                                                  : run_command({QStringLiteral("roofline")}, {run()->path}, filter());
}

void RooflinePage::perform(ActionId action) {
  if (!can_perform(action)) return;
  const QString same = filter().name.isEmpty() ? table_command("roofline", 0, run()->path, filter()) : QString();
  ask_and_export(*this, *run(), "roofline", rows_->shown_table(), same);
}

void RooflinePage::show_note() {
  QString text = chart_->current_text();
  if (const double share = chart_->plot().share_without_place(); share > 0) {
    text += QStringLiteral("\nWithout FLOPs or bytes, and in the table alone: %1 % of the time.")
                .arg(100 * share, 0, 'f', 1);
  }
  note_->setText(text);
}

void RooflinePage::follow_dot() {
  show_note();
  if (const auto point = chart_->current_point(); point && static_cast<int>(*point) != rows_->current_row())
    rows_->select_row(static_cast<int>(*point));
}

void RooflinePage::follow_row(int row) {
  if (row >= 0) chart_->set_current_point(static_cast<std::size_t>(row));
}

void RooflinePage::open_point(std::size_t point) {
  if (computed_.run == nullptr || point >= computed_.roofline.points.size()) return;
  const RooflinePoint& layer = computed_.roofline.points[point];
  const std::vector<Call> calls = layers().calls(*computed_.run, filter(), {layer.path, layer.phase}, 0);
  if (calls.empty()) return;
  Q_EMIT call_requested(*std::ranges::max_element(calls, {}, &Call::duration_ns));
}

QString RooflinePage::verdict() const { return verdict_->isHidden() ? QString() : verdict_->text(); }
QString RooflinePage::note() const { return note_->text(); }

}  // namespace swinscope::gui
