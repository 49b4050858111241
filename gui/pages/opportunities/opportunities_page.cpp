#include "gui/pages/opportunities/opportunities_page.h"

#include <QCheckBox>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>
#include <algorithm>

#include "analyzer/base/text.h"
#include "gui/core/run_command.h"
#include "gui/pages/opportunities/opportunity_card.h"
#include "gui/pages/opportunities/step_panel.h"
#include "gui/widgets/elided_label.h"
#include "gui/widgets/step_lanes.h"
#include "gui/widgets/step_timelines.h"

namespace swinscope::gui {
namespace {

QString text_of(const Problem& problem) {
  QString text = problem.what;
  if (!problem.cause.isEmpty()) text += QStringLiteral("\ncause: ") + problem.cause;
  if (!problem.hint.isEmpty()) text += QStringLiteral("\nhint: ") + problem.hint;
  return text;
}

}  // namespace

OpportunitiesPage::OpportunitiesPage(QWidget* parent)
    : ComputedPage(QStringLiteral("opportunities_message"), parent),
      step_(new StepPanel(this)),
      scroll_(new QScrollArea(this)),
      timelines_(new StepTimelines(QStringLiteral("Measured step"), QStringLiteral("Simulated step"), this)),
      card_column_(new QVBoxLayout) {
  build_layout();
  setFocusProxy(scroll_);
  connect(&opportunities_, &Opportunities::found, this, &OpportunitiesPage::show_found);
  connect(&opportunities_, &Opportunities::simulated, this, &OpportunitiesPage::show_applied);
  connect(&step_->apply_all(), &QPushButton::clicked, &opportunities_, &Opportunities::apply_all);
  connect(&step_->apply_none(), &QPushButton::clicked, &opportunities_, &Opportunities::apply_none);
  show_message(QStringLiteral("No run is open."));
}

void OpportunitiesPage::build_layout() {
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(4, 0, 0, 0);
  all->setSpacing(2);
  all->addWidget(step_);
  all->addWidget(&message_label(), 1);
  all->addWidget(scroll_, 1);
  all->addWidget(timelines_);
  scroll_->setAccessibleName(QStringLiteral("Opportunities"));
  scroll_->setAccessibleDescription(
      QStringLiteral("What changes would save of a step: the one to try next, then those that save most"));
  scroll_->setWidgetResizable(true);
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* content = new QWidget;
  auto* column = new QVBoxLayout(content);
  column->setContentsMargins(4, 4, 8, 8);
  card_column_->setSpacing(6);
  column->addLayout(card_column_);
  none_named_ = wrapped_label({}, content);
  abstained_title_ = new QLabel(QStringLiteral("What cannot be said"), content);
  QFont bold = abstained_title_->font();
  bold.setBold(true);
  abstained_title_->setFont(bold);
  abstained_ = wrapped_label(QStringLiteral("abstained"), content);
  column->addWidget(none_named_);
  column->addSpacing(6);
  column->addWidget(abstained_title_);
  column->addWidget(abstained_);
  column->addStretch(1);
  scroll_->setWidget(content);
}

QString OpportunitiesPage::without_run(const Session& session) const {
  if (session.experiment == nullptr && session.comparison == nullptr) return ComputedPage::without_run(session);
  return QStringLiteral(
      "Opportunities are those of one run. Open a run of the experiment: choose it in the list "
      "above, or click a point of a chart on the overview.");
}

bool OpportunitiesPage::is_of_another(const Filter& before) {
  if (!(before.selection() == filter().selection())) return true;
  keep_named();
  return false;
}

void OpportunitiesPage::compute() {
  show_message(QStringLiteral("Computing: the step is replayed, as it is and with each change…"));
  opportunities_.compute(run(), filter().selection());
}

void OpportunitiesPage::forget() {
  opportunities_.clear();
  clear_cards();
}

bool OpportunitiesPage::has(ActionId action) const { return StepTimelines::moves(action); }

bool OpportunitiesPage::can_perform(ActionId) const { return timelines_->has_pictures(); }

void OpportunitiesPage::perform(ActionId action) { timelines_->move_by(action); }

QString OpportunitiesPage::command() const {
  if (run() == nullptr) return {};
  QStringList words = {QStringLiteral("advise")};
  if (const QStringList ids = opportunities_.applied_ids(); !ids.isEmpty())
    words << QStringLiteral("--apply ") + ids.join(QLatin1Char(','));
  return run_command(words, {run()->path}, filter());
}

void OpportunitiesPage::show_content(bool is_shown) {
  scroll_->setVisible(is_shown);
  step_->setVisible(opportunities_.advice() != nullptr);
  show_timelines();
  timelines_->setVisible(is_shown && timelines_->has_pictures());
}

void OpportunitiesPage::show_found() {
  const Advice* advice = opportunities_.advice();
  if (advice != nullptr) step_->show_step(opportunities_);
  if (opportunities_.problem()) return show_message(text_of(*opportunities_.problem()));
  show_message({});
  add_cards(*advice);
  show_abstained(*advice);
  keep_named();
  // Once the cards have their places.
  QMetaObject::invokeMethod(this, "show_wanted", Qt::QueuedConnection);
}

void OpportunitiesPage::present(const Evidence& evidence) {
  wanted_ = evidence.called;
  show_wanted();
}

void OpportunitiesPage::show_wanted() {
  for (std::size_t i = 0; i < cards_.size() && !wanted_.isEmpty(); ++i) {
    if (opportunities_.advice()->cards[indexes_[i]].change.id != wanted_.toStdString()) continue;
    wanted_.clear();
    scroll_->ensureWidgetVisible(cards_[i]);
    cards_[i]->apply().setFocus();
  }
}

void OpportunitiesPage::add_cards(const Advice& advice) {
  std::int64_t least = 0;
  std::int64_t most = 0;
  int width = 0;
  for (const swinscope::Card* card : leading_cards(advice, advice.cards.size())) {
    const auto index = static_cast<std::size_t>(card - advice.cards.data());
    auto* shown = new OpportunityCard(*card, cards_.size() + 1, advice.step_ns(), scroll_->widget());
    connect(shown, &OpportunityCard::toggled, this, [this, index](bool is_on) { opportunities_.apply(index, is_on); });
    connect(shown, &OpportunityCard::evidence_requested, this, [this, index] { show_evidence(index); });
    card_column_->addWidget(shown);
    cards_.push_back(shown);
    indexes_.push_back(index);
    least = std::min(least, card->saving_ns.front());
    most = std::max(most, card->saving_ns.back());
    width = std::max(width, shown->figures_width());
  }
  for (OpportunityCard* card : cards_) {
    card->set_scale(least, most);
    card->set_figures_width(width);
  }
  // Below the cards, for the keyboard, too.
  if (!cards_.empty()) setTabOrder(&cards_.back()->details(), &timelines_->above());
  setTabOrder(&timelines_->above(), &timelines_->below());
}

void OpportunitiesPage::show_abstained(const Advice& advice) {
  QStringList lines;
  for (const Abstention& abstention : advice.abstained)
    lines << QStringLiteral("%1: %2").arg(QString::fromStdString(abstention.of),
                                          QString::fromStdString(abstention.reason));
  abstained_->setText(lines.join(QLatin1Char('\n')));
  abstained_title_->setVisible(!lines.isEmpty());
  abstained_->setVisible(!lines.isEmpty());
}

void OpportunitiesPage::show_applied() {
  for (std::size_t i = 0; i < cards_.size(); ++i)
    cards_[i]->set_applied(opportunities_.is_applied(indexes_[i]));
  step_->show_step(opportunities_);
  show_timelines();
}

// The step as it was measured above what was simulated last.
void OpportunitiesPage::show_timelines() {
  const std::shared_ptr<const StepPictures>& pictures = opportunities_.pictures();
  if (pictures == nullptr) return timelines_->show_steps({}, {}, {});
  const auto text = [](const StepPicture& picture) { return QString::fromStdString(format_duration(picture.step_ns)); };
  const auto count = static_cast<std::int64_t>(opportunities_.applied_count());
  const Advice* advice = opportunities_.advice();
  const QString of = QStringLiteral("step %1 of rank %2").arg(pictures->step).arg(pictures->rank);
  const QString what =
      count > 0 ? QStringLiteral("Simulated, %1 applied").arg(QString::fromStdString(format_counted(count, "changes")))
      : advice != nullptr && advice->has_recording_cost() ? QStringLiteral("Without the recorder's cost")
                                                          : QStringLiteral("Replayed as it is");
  timelines_->show_steps(
      {{pictures, &pictures->measured}, QStringLiteral("Measured: %1, %2").arg(of, text(pictures->measured))},
      {{pictures, &pictures->simulated}, QStringLiteral("%1: %2").arg(what, text(pictures->simulated))}, of);
}

void OpportunitiesPage::keep_named() {
  bool has_any = false;
  for (OpportunityCard* card : cards_) {
    const bool is_named = card->title().text().contains(filter().name, Qt::CaseInsensitive);
    card->setVisible(is_named);
    has_any |= is_named;
  }
  none_named_->setText(cards_.empty() ? QStringLiteral("No change was found that saves a noticeable part of the step.")
                                      : QStringLiteral("No change passes the filter."));
  none_named_->setVisible(!has_any);
}

void OpportunitiesPage::show_evidence(std::size_t index) {
  if (const auto call = opportunities_.evidence(index)) Q_EMIT call_requested(*call);
}

void OpportunitiesPage::clear_cards() {
  for (OpportunityCard* card : cards_) {
    card->hide();
    card->deleteLater();  // one of them may be the one that asked for this
  }
  cards_.clear();
  indexes_.clear();
}

QString OpportunitiesPage::abstained() const { return abstained_->text(); }

}  // namespace swinscope::gui
