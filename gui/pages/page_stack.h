// The pages of the window, all_pages(), of which one is shown, and the tabs that choose it.
#pragma once

#include <QStackedWidget>
#include <vector>

#include "gui/pages/page.h"

class QTabBar;

namespace swinscope::gui {

class Settings;

class PageStack : public QStackedWidget {
  Q_OBJECT

 public:
  // Arranged as the settings remember it.
  // With a tab for each page.
  PageStack(const Settings& settings, QTabBar* tabs, QWidget* parent);

  void keep_arrangement(Settings& settings) const;
  QTabBar* tabs() const { return tabs_; }
  const std::vector<Page*>& pages() const { return pages_; }

  Page& current() const { return *pages_[static_cast<std::size_t>(currentIndex())]; }
  QString current_id() const { return current().objectName(); }
  QString current_title() const;
  // Nothing happens for an id that no page has.
  void show_page(const QString& id);

  // Whose action it is now: the page that is shown, or the timeline, which has the actions on a call on every page;
  // null for one that only pages in the background have.
  Page* owner(ActionId id) const;
  // The page does it, wherever it is.
  void perform(ActionId id);
  bool is_on(ActionId id) const;
  // Whether its shortcut works on the page.
  static bool is_offered(const Page& page, ActionId id);

  bool is_settled() const;

 Q_SIGNALS:
  void page_shown();

 private:
  void focus_page();

  QTabBar* tabs_;
  std::vector<Page*> pages_;  // as in all_pages()
  bool wants_focus_ = false;  // the page that is shown, which had nothing yet that can have it
};

}  // namespace swinscope::gui
