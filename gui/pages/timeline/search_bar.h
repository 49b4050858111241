// Search over the names of events: what was typed, how many hits, next and previous.
#pragma once

#include <QWidget>

#include "gui/core/background.h"
#include "gui/core/problem.h"
#include "gui/core/search.h"

class QCheckBox;
class QLabel;
class QLineEdit;
class QToolButton;

namespace swinscope::gui {

class SearchBar : public QWidget {
  Q_OBJECT

 public:
  explicit SearchBar(QWidget* parent = nullptr);

  void set_timeline(std::shared_ptr<const Timeline> timeline);
  // Shows the bar and puts the cursor into it.
  void start();
  void set_text(const QString& text);
  QString text() const;
  QString status() const;
  // Of the latest search that is done; empty names where there is none.
  const SearchResult& result() const { return result_; }
  // Which of the hits is selected, of how many; 0: none of them.
  void set_number(std::uint64_t number, std::uint64_t count);
  bool is_searching() const { return !background_.is_idle(); }

 Q_SIGNALS:
  void searched();
  void next_requested(bool forward);
  void list_toggled(bool is_on);
  void closed();

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void search_again();
  void finish(SearchResult result, const QString& problem);
  static QString hits_text(std::uint64_t hits);

  std::shared_ptr<const Timeline> timeline_;
  QLineEdit* edit_;
  QCheckBox* regex_;
  QLabel* status_;
  QToolButton* list_;
  SearchResult result_;
  Background background_;
};

}  // namespace swinscope::gui
