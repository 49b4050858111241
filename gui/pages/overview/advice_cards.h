// What to try next, a card each, which lead to the page that simulates them: first the change that `swinscope analyze`
// names, then those that would save most of a step. Found beside the window, by the advisor that all pages share.
#pragma once

#include <QWidget>
#include <vector>

#include "gui/core/background.h"
#include "gui/core/opened.h"

class QHBoxLayout;
class QLabel;

namespace swinscope::gui {

class Card;

class AdviceCards : public QWidget {
  Q_OBJECT

 public:
  static constexpr std::size_t kMost = 3;

  explicit AdviceCards(QWidget* parent = nullptr);

  // Of a run whose trace is there.
  void show_advice(const RunPointer& run, const Selection& selection);
  // Nothing is shown.
  void clear();
  bool is_settled() const { return advising_.is_idle(); }
  const std::vector<Card*>& cards() const { return cards_; }
  // In place of cards, or why there are no more.
  QString note() const;

 Q_SIGNALS:
  void activated(const QString& id);  // of the change

 private:
  struct Found {
    std::shared_ptr<const Advisor> advisor;  // null: there is none
    std::string why_not;                     // of none
  };
  void show_cards(const Found& found);
  void add_card(const swinscope::Card& card, std::int64_t step_ns);
  void drop_cards();

  QLabel* title_;
  QHBoxLayout* row_;
  QLabel* note_;
  std::vector<Card*> cards_;
  Background advising_;
};

}  // namespace swinscope::gui
