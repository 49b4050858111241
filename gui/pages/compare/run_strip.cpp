#include "gui/pages/compare/run_strip.h"

#include <QButtonGroup>
#include <QDoubleSpinBox>
#include <QFileInfo>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QRadioButton>

#include "analyzer/base/text.h"
#include "gui/core/compared_runs.h"
#include "gui/core/tool_tip.h"
#include "gui/widgets/elided_label.h"

namespace swinscope::gui {
namespace {

constexpr double kHighestPrice = 1000;  // of a GPU hour

QString state_of(const ComparedPath& run, bool is_reading) {
  if (run.problem) return QStringLiteral("%1: %2").arg(run.problem->what, run.problem->cause);
  if (run.run == nullptr)
    return is_reading ? QStringLiteral("reading…") : QStringLiteral("read when there is another beside it");
  if (!run.run->step_ns) return QStringLiteral("no steps were found");
  QString text = QStringLiteral("%1 per step").arg(QString::fromStdString(format_duration(*run.run->step_ns)));
  if (run.run->images_per_second) text += QStringLiteral(", %1 images/s").arg(*run.run->images_per_second, 0, 'g', 4);
  return text;
}

}  // namespace

RunStrip::RunStrip(QWidget* parent) : QWidget(parent), grid_(new QGridLayout(this)), bases_(new QButtonGroup(this)) {
  grid_->setContentsMargins(4, 0, 4, 0);
  grid_->setVerticalSpacing(2);
  grid_->setColumnStretch(1, 1);
  connect(bases_, &QButtonGroup::idClicked, this, [this](int id) { Q_EMIT base_chosen(static_cast<std::size_t>(id)); });
}

void RunStrip::show_runs(const ComparedRuns& runs) {
  QStringList paths;
  for (const ComparedPath& run : runs.runs())
    paths << run.path;
  if (paths != paths_) rebuild(runs.runs());  // else who types a price goes on
  paths_ = paths;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    states_[i]->setText(state_of(runs.runs()[i], runs.is_reading()));
    states_[i]->setToolTip(tooltip_of(states_[i]->text()));
  }
}

void RunStrip::rebuild(const std::vector<ComparedPath>& runs) {
  for (QWidget* part : parts_) {
    part->hide();
    part->deleteLater();  // one of them may be the one that asked for this
  }
  parts_.clear();
  states_.clear();
  for (QAbstractButton* button : bases_->buttons())
    bases_->removeButton(button);
  for (std::size_t i = 0; i < runs.size(); ++i)
    add_row(runs[i], static_cast<int>(i));
}

void RunStrip::add_row(const ComparedPath& run, int row) {
  const auto index = static_cast<std::size_t>(row);
  const QString name = QFileInfo(run.path).fileName();
  auto* base = new QRadioButton(QStringLiteral("base"), this);
  base->setChecked(row == 0);
  base->setAccessibleName(QStringLiteral("%1 is the base").arg(name));
  base->setToolTip(QStringLiteral("What the others are compared with"));
  bases_->addButton(base, row);
  auto* path = new ElidedLabel(QString(), this);
  path->setText(run.path);
  path->setToolTip(tooltip_of(run.path));
  auto* state = new ElidedLabel(QString(), this);
  auto* price = new QDoubleSpinBox(this);
  price->setRange(0, kHighestPrice);
  price->setDecimals(2);
  price->setValue(run.price_per_hour);
  price->setPrefix(QStringLiteral("$ "));
  price->setSuffix(QStringLiteral(" a GPU hour"));
  price->setSpecialValueText(QStringLiteral("no price"));
  price->setAccessibleName(QStringLiteral("Price of a GPU hour of %1").arg(name));
  price->setToolTip(QStringLiteral("Where all have one, they can be compared by price"));
  connect(price, &QDoubleSpinBox::valueChanged, this, [this, index](double value) { Q_EMIT priced(index, value); });
  auto* remove = new QPushButton(QStringLiteral("Remove"), this);
  remove->setAccessibleName(QStringLiteral("Remove %1 from the comparison").arg(name));
  connect(remove, &QPushButton::clicked, this, [this, index] { Q_EMIT removed(index); });
  states_.push_back(state);
  int column = 0;
  for (QWidget* part : std::initializer_list<QWidget*>{base, path, state, price, remove}) {
    grid_->addWidget(part, row, column++);
    part->show();
    parts_.push_back(part);
  }
  grid_->setColumnStretch(2, 1);
}

}  // namespace swinscope::gui
