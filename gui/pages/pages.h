// The pages of the window, a row each: tabs, actions, menus, help, `--page` and `--list-pages` are made of this list.
#pragma once

#include <QString>
#include <span>

class QWidget;

namespace swinscope::gui {

class Page;

struct PageInfo {
  const char* id;         // never changes: "timeline"; its action is "view.timeline"
  const char* title;      // with a mnemonic
  const char* shortcuts;  // separated by spaces
  const char* help;
  Page* (*make)(QWidget* parent);
};

// In the order of the tabs; the window starts with the first.
std::span<const PageInfo> all_pages();
// Its place among them; -1 for an id that none has.
int find_page(const QString& id);

}  // namespace swinscope::gui
