#include "gui/pages/opportunities/opportunity_card.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include "analyzer/base/text.h"
#include "gui/core/opportunities.h"
#include "gui/widgets/elided_label.h"
#include "gui/widgets/interval_bar.h"
#include "gui/widgets/theme.h"

namespace swinscope::gui {
namespace {

QString text_of(std::string_view text) { return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())); }

QFont bold(QFont font) {
  font.setWeight(QFont::DemiBold);
  return font;
}

QLabel* muted(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setTextFormat(Qt::PlainText);
  label->setForegroundRole(QPalette::PlaceholderText);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  return label;
}

QString more_text(const Change& change) {
  QString text = text_of(change.title);
  for (const std::string& assumption : change.assumptions)
    text += QStringLiteral("\nAssumed: ") + text_of(assumption) + QLatin1Char('.');
  const auto events = static_cast<std::int64_t>(change.evidence.size());
  return text + QStringLiteral("\nEvidence: ") + text_of(format_counted(events, "GPU events")) +
         QStringLiteral("; swinscope advise --apply ") + text_of(change.id);
}

}  // namespace

OpportunityCard::OpportunityCard(const swinscope::Card& card, std::size_t rank, std::int64_t step_ns, QWidget* parent)
    : QFrame(parent),
      title_(new ElidedLabel(QStringLiteral("%1. %2").arg(rank).arg(text_of(card.change.title)), this)),
      bar_(new IntervalBar(0, this)),
      figures_(new QWidget(this)),
      more_(new QLabel(more_text(card.change), this)),
      apply_(new QCheckBox(QStringLiteral("Apply"), figures_)),
      show_(new QPushButton(QStringLiteral("Show"), figures_)),
      details_(new QPushButton(QStringLiteral("Details"), figures_)) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(10, 6, 10, 6);
  row->setSpacing(16);
  auto* column = new QVBoxLayout;
  column->setSpacing(4);
  build_text(card, *column);
  build_figures(card, step_ns);
  row->addLayout(column, 1);
  row->addWidget(figures_, 0, Qt::AlignTop);
  describe(card);
  connect(apply_, &QCheckBox::toggled, this, [this](bool is_on) {
    update();
    Q_EMIT toggled(is_on);
  });
  connect(show_, &QPushButton::clicked, this, &OpportunityCard::evidence_requested);
  connect(details_, &QPushButton::toggled, more_, &QWidget::setVisible);
}

void OpportunityCard::build_text(const swinscope::Card& card, QVBoxLayout& column) {
  title_->setFont(bold(title_->font()));
  column.addWidget(title_);
  column.addWidget(bar_);
  QLabel* why = muted(text_of(card.change.why), this);
  why->setWordWrap(true);
  column.addWidget(why);
  if (!card.change.accuracy.empty()) {
    auto* risk = new QLabel(QStringLiteral("Accuracy: ") + text_of(card.change.accuracy), this);
    risk->setTextFormat(Qt::PlainText);
    risk->setWordWrap(true);
    risk->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column.addWidget(risk);
  }
  more_->setTextFormat(Qt::PlainText);
  more_->setWordWrap(true);
  more_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  more_->hide();
  column.addWidget(more_);
  column.addStretch(1);
}

void OpportunityCard::build_figures(const swinscope::Card& card, std::int64_t step_ns) {
  auto* column = new QVBoxLayout(figures_);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(4);
  auto* saving = new QLabel(share_text(card.likely_ns(), step_ns), figures_);
  saving->setFont(bold(saving->font()));
  saving->setTextInteractionFlags(Qt::TextSelectableByMouse);
  column->addWidget(saving);
  column->addWidget(muted(confidence_text(card), figures_));
  auto* controls = new QHBoxLayout;
  controls->addWidget(apply_);
  controls->addStretch(1);
  controls->addWidget(show_);
  controls->addWidget(details_);
  details_->setCheckable(true);
  column->addLayout(controls);
}

void OpportunityCard::describe(const swinscope::Card& card) {
  const QString title = text_of(card.change.title);
  const QString saving = saving_text(card);
  bar_->set_interval(static_cast<double>(card.saving_ns.front()), static_cast<double>(card.likely_ns()),
                     static_cast<double>(card.saving_ns.back()), saving);
  QString description = QStringLiteral("%1; %2: %3")
                            .arg(saving, text_of(confidence_name(card.change.confidence)), text_of(card.change.why));
  if (!card.change.accuracy.empty()) description += QStringLiteral("; accuracy: ") + text_of(card.change.accuracy);
  setAccessibleName(title);
  setAccessibleDescription(description);
  apply_->setAccessibleName(QStringLiteral("Apply: ") + title);
  apply_->setAccessibleDescription(description);
  apply_->setToolTip(QStringLiteral("Simulates the step with this change and the others that are applied"));
  show_->setAccessibleName(QStringLiteral("Show in the timeline: ") + title);
  show_->setAccessibleDescription(QStringLiteral("Selects the first of its GPU events in the timeline"));
  show_->setToolTip(show_->accessibleDescription());
  details_->setAccessibleName(QStringLiteral("Details: ") + title);
  details_->setAccessibleDescription(more_->text());
  details_->setToolTip(QStringLiteral("The whole title, and what is assumed"));
}

void OpportunityCard::set_scale(std::int64_t begin_ns, std::int64_t end_ns) {
  bar_->set_scale(static_cast<double>(begin_ns), static_cast<double>(end_ns));
}

void OpportunityCard::set_applied(bool is_on) {
  const QSignalBlocker silent(apply_);
  apply_->setChecked(is_on);
  update();
}

// Of the part that has the keyboard: a button is pressed, from the switch one goes to the evidence.
void OpportunityCard::keyPressEvent(QKeyEvent* event) {
  if (event->key() != Qt::Key_Return && event->key() != Qt::Key_Enter) return QFrame::keyPressEvent(event);
  if (auto* button = qobject_cast<QPushButton*>(focusWidget()); button != nullptr && button->hasFocus()) {
    button->click();
  } else {
    Q_EMIT evidence_requested();
  }
}

void OpportunityCard::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const bool is_on = apply_->isChecked();
  painter.setPen(QPen(is_on ? palette().color(QPalette::Highlight) : colors_of(palette()).grid, is_on ? 2 : 1));
  painter.setBrush(palette().base());
  painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 4, 4);
}

}  // namespace swinscope::gui
