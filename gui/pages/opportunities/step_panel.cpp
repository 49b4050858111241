#include "gui/pages/opportunities/step_panel.h"

#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <algorithm>

#include "analyzer/base/text.h"
#include "gui/core/opportunities.h"
#include "gui/widgets/interval_bar.h"

namespace swinscope::gui {
namespace {

// So that the bars keep their length while the texts change.
constexpr const char* kLongestName = "Simulated, 99 changes applied";
constexpr const char* kLongestTimes = "999.9 ms, 999.9 us to 999.9 ms; 99.9 % less";

QString duration(std::int64_t ns) { return QString::fromStdString(format_duration(ns)); }

}  // namespace

StepPanel::StepPanel(QWidget* parent)
    : QWidget(parent),
      measured_name_(new QLabel(QStringLiteral("Measured, traced"), this)),
      measured_bar_(new IntervalBar(0, this)),
      simulated_name_(new QLabel(this)),
      simulated_bar_(new IntervalBar(2, this)),
      error_(new QLabel(this)),
      all_(new QPushButton(QStringLiteral("Apply all likely and plausible"), this)),
      none_(new QPushButton(QStringLiteral("Apply none"), this)) {
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(6, 4, 6, 4);
  grid->setHorizontalSpacing(12);
  grid->setVerticalSpacing(4);
  grid->setColumnStretch(1, 1);
  measured_ = add_row(*grid, 0, *measured_name_, *measured_bar_);
  simulated_ = add_row(*grid, 1, *simulated_name_, *simulated_bar_);
  grid->addWidget(all_, 0, 3);
  grid->addWidget(none_, 1, 3);
  error_->setObjectName(QStringLiteral("replay_error"));
  error_->setForegroundRole(QPalette::PlaceholderText);
  error_->setWordWrap(true);
  error_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  grid->addWidget(error_, 2, 0, 1, 4);
  all_->setToolTip(QStringLiteral("Switches on all but the speculative changes, and simulates the step with them"));
  none_->setToolTip(QStringLiteral("Switches all changes off"));
  for (QPushButton* button : {all_, none_})
    button->setAccessibleDescription(button->toolTip());
}

QLabel* StepPanel::add_row(QGridLayout& grid, int row, QLabel& name, IntervalBar& bar) {
  auto* times = new QLabel(this);
  QFont bold = times->font();
  bold.setWeight(QFont::DemiBold);
  times->setFont(bold);
  times->setTextInteractionFlags(Qt::TextSelectableByMouse);
  name.setMinimumWidth(name.fontMetrics().horizontalAdvance(QLatin1String(kLongestName)));
  times->setMinimumWidth(QFontMetrics(bold).horizontalAdvance(QLatin1String(kLongestTimes)));
  grid.addWidget(&name, row, 0);
  grid.addWidget(&bar, row, 1);
  grid.addWidget(times, row, 2);
  return times;
}

void StepPanel::show_step(const Opportunities& opportunities) {
  const Advice& advice = *opportunities.advice();
  const std::int64_t measured = advice.error.traced_step_ns;
  const std::array<std::int64_t, 3>& joint = opportunities.joint_step_ns();
  const auto count = static_cast<std::int64_t>(opportunities.applied_count());
  measured_->setText(duration(measured));
  QString times = duration(joint[1]);
  if (count > 0) {
    const double less = static_cast<double>(advice.step_ns() - joint[1]) / static_cast<double>(advice.step_ns());
    times += QStringLiteral(", %1; %2 % less").arg(range_text(joint[2], joint[0])).arg(100 * less, 0, 'f', 1);
  }
  simulated_->setText(times);
  simulated_name_->setText(
      count == 0
          ? advice.has_recording_cost() ? QStringLiteral("Without the recorder's cost")
                                        : QStringLiteral("Replayed as it is")
          : QStringLiteral("Simulated, %1 applied").arg(QString::fromStdString(format_counted(count, "changes"))));
  const auto most = static_cast<double>(std::max(measured, joint[0]));
  measured_bar_->set_scale(0, most);
  simulated_bar_->set_scale(0, most);
  const auto value = static_cast<double>(measured);
  measured_bar_->set_interval(value, value, value,
                              QStringLiteral("%1: %2").arg(measured_name_->text(), measured_->text()));
  simulated_bar_->set_interval(static_cast<double>(joint[2]), static_cast<double>(joint[1]),
                               static_cast<double>(joint[0]),
                               QStringLiteral("%1: %2").arg(simulated_name_->text(), times));
  QString error = QStringLiteral("The replay of the step as it is differs by %1 %.")
                      .arg(100 * advice.error.step_error(), 0, 'f', 1);
  if (!advice.cards.empty()) {
    error += QStringLiteral(
        " Each saving below is that of the change alone; those that are applied are simulated "
        "together, because savings do not add up.");
  }
  for (const std::string& doubt : doubts_of(advice))
    error += QStringLiteral("\nnote: ") + QString::fromStdString(doubt);
  error_->setText(error);
  for (QPushButton* button : {all_, none_})
    button->setVisible(!advice.cards.empty());
}

QString StepPanel::measured() const { return measured_->text(); }
QString StepPanel::simulated() const { return simulated_->text(); }
QString StepPanel::replay_error() const { return error_->text(); }

}  // namespace swinscope::gui
