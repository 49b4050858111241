// A change with what it saves: a switch that applies it, its interval as a bar, why, what is assumed, and the way to
// its evidence. Space toggles the switch, Enter goes to the timeline.
#pragma once

#include <QFrame>

#include "advisor/advice.h"

class QCheckBox;
class QLabel;
class QPushButton;
class QVBoxLayout;

namespace swinscope::gui {

class ElidedLabel;
class IntervalBar;

class OpportunityCard : public QFrame {
  Q_OBJECT

 public:
  // `rank`: its place, from 1.
  OpportunityCard(const swinscope::Card& card, std::size_t rank, std::int64_t step_ns, QWidget* parent = nullptr);

  // Of the bars of all cards.
  void set_scale(std::int64_t begin_ns, std::int64_t end_ns);
  // Of what stands at the right, so that the bars of all cards have the same length.
  int figures_width() const { return figures_->sizeHint().width(); }
  void set_figures_width(int width) { figures_->setFixedWidth(width); }
  // Without saying that it was toggled.
  void set_applied(bool is_on);

  const ElidedLabel& title() const { return *title_; }
  const IntervalBar& bar() const { return *bar_; }
  QCheckBox& apply() { return *apply_; }
  QPushButton& show_evidence() { return *show_; }
  QPushButton& details() { return *details_; }

 Q_SIGNALS:
  void toggled(bool is_on);
  void evidence_requested();

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void build_figures(const swinscope::Card& card, std::int64_t step_ns);
  void build_text(const swinscope::Card& card, QVBoxLayout& column);
  void describe(const swinscope::Card& card);

  ElidedLabel* title_;
  IntervalBar* bar_;
  QWidget* figures_;
  QLabel* more_;  // the title in full, and what is assumed
  QCheckBox* apply_;
  QPushButton* show_;
  QPushButton* details_;
};

}  // namespace swinscope::gui
