// Facts under a heading, a line each: what they are, and what is known of them.
#pragma once

#include <QWidget>
#include <vector>

#include "analyzer/table/render.h"

class QGridLayout;
class QLabel;

namespace swinscope::gui {

class FactList : public QWidget {
  Q_OBJECT

 public:
  explicit FactList(const QString& title, QWidget* parent = nullptr);

  // Hidden without facts.
  void set_facts(const std::vector<Fact>& facts);
  // What stands beside a fact's title; empty where there is no such fact.
  QString value(const QString& title) const;

 private:
  QGridLayout* grid_;
  std::vector<std::pair<QLabel*, QLabel*>> lines_;
};

}  // namespace swinscope::gui
