#include "gui/pages/overview/fact_list.h"

#include <QGridLayout>
#include <QLabel>
#include <QVBoxLayout>

namespace swinscope::gui {

FactList::FactList(const QString& title, QWidget* parent) : QWidget(parent), grid_(new QGridLayout) {
  auto* heading = new QLabel(title, this);
  QFont bold = heading->font();
  bold.setBold(true);
  heading->setFont(bold);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 4, 0, 4);
  column->addWidget(heading);
  column->addLayout(grid_);
  column->addStretch(1);
  grid_->setColumnStretch(1, 1);
  grid_->setVerticalSpacing(2);
  hide();
}

void FactList::set_facts(const std::vector<Fact>& facts) {
  for (const auto& [title, value] : lines_) {
    delete title;
    delete value;
  }
  lines_.clear();
  for (const Fact& fact : facts) {
    auto* title = new QLabel(QString::fromStdString(fact.title), this);
    auto* value = new QLabel(QString::fromStdString(format_cell(fact.value, fact.unit)), this);
    title->setForegroundRole(QPalette::PlaceholderText);
    title->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    for (QLabel* label : {title, value})
      label->setTextFormat(Qt::PlainText);
    value->setWordWrap(true);
    value->setMinimumWidth(1);
    value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    const int row = static_cast<int>(lines_.size());
    grid_->addWidget(title, row, 0);
    grid_->addWidget(value, row, 1);
    lines_.emplace_back(title, value);
  }
  setVisible(!facts.empty());
}

QString FactList::value(const QString& title) const {
  for (const auto& [name, value] : lines_) {
    if (name->text() == title) return value->text();
  }
  return {};
}

}  // namespace swinscope::gui
