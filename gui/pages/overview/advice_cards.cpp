#include "gui/pages/overview/advice_cards.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>

#include "analyzer/base/text.h"
#include "gui/core/opportunities.h"
#include "gui/core/tool_tip.h"
#include "gui/widgets/card.h"

namespace swinscope::gui {
namespace {

// Which step it is that the savings are a part of: the replayed one, without the recorder's cost where that is known;
// the card above says how long the recorded one took.
QString what_of(const Advice& advice, std::size_t more) {
  const QString step = QString::fromStdString(format_duration(advice.step_ns()));
  QString text =
      advice.has_recording_cost()
          ? QStringLiteral("Each made alone, in a step of %1, which is without what recording added.").arg(step)
          : QStringLiteral("Each made alone, in the step as it is replayed, %1.").arg(step);
  if (more > 0) text += QStringLiteral(" %1 more on the page Opportunities.").arg(more);
  return text;
}

}  // namespace

AdviceCards::AdviceCards(QWidget* parent)
    : QWidget(parent), title_(new QLabel(this)), row_(new QHBoxLayout), note_(new QLabel(this)) {
  QFont bold = title_->font();
  bold.setBold(true);
  title_->setFont(bold);
  title_->setTextFormat(Qt::PlainText);
  note_->setWordWrap(true);
  note_->setTextFormat(Qt::PlainText);
  note_->setForegroundRole(QPalette::PlaceholderText);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 4, 0, 4);
  column->addWidget(title_);
  column->addLayout(row_);
  column->addWidget(note_);
  clear();
}

void AdviceCards::clear() {
  advising_.forget();
  drop_cards();
  hide();
}

void AdviceCards::drop_cards() {
  for (Card* card : cards_) {
    card->hide();
    card->deleteLater();  // one of them may be the one that asked for this
  }
  cards_.clear();
}

void AdviceCards::show_advice(const RunPointer& run, const Selection& selection) {
  drop_cards();
  title_->setText(QStringLiteral("What to try next"));
  note_->setText(QStringLiteral("Computing: the step is replayed with each change…"));
  note_->show();
  show();
  advising_.start(
      [run, selection]() -> Found {
        try {
          Found found{run->shared->advisor(run->trace, selection), {}};
          if (found.advisor == nullptr) found.why_not = why_not_quick(*run->shared->of(run->trace, selection));
          return found;
        } catch (const Error& error) {
          return {nullptr, error.what()};  // nothing meets the selection
        }
      },
      [this](const Found& found) { show_cards(found); });
}

void AdviceCards::show_cards(const Found& found) {
  if (found.advisor == nullptr) {
    note_->setText(QStringLiteral("Not computed: %1. The page Opportunities says more.")
                       .arg(QString::fromStdString(found.why_not)));
    return;
  }
  const Advice& advice = found.advisor->advice();
  if (advice.is_refused()) {
    note_->setText(QStringLiteral("Not known: %1").arg(QString::fromStdString(advice.abstained.front().reason)));
    return;
  }
  const std::vector<const swinscope::Card*> shown = leading_cards(advice, kMost);
  for (const swinscope::Card* card : shown)
    add_card(*card, advice.step_ns());
  note_->setText(shown.empty() ? QStringLiteral("No change was found that saves a noticeable part of the step.")
                               : what_of(advice, advice.cards.size() - shown.size()));
}

void AdviceCards::add_card(const swinscope::Card& card, std::int64_t step_ns) {
  auto* shown = new Card(this);
  const QString change = QString::fromStdString(card.change.title);
  shown->set_figure(change, share_text(card.likely_ns(), step_ns), confidence_text(card));
  shown->setToolTip(tooltip_of(change));
  connect(shown, &Card::clicked, this, [this, id = QString::fromStdString(card.change.id)] { Q_EMIT activated(id); });
  row_->addWidget(shown, 1);
  cards_.push_back(shown);
}

QString AdviceCards::note() const { return note_->isHidden() ? QString() : note_->text(); }

}  // namespace swinscope::gui
