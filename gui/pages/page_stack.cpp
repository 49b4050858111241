#include "gui/pages/page_stack.h"

#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QLineEdit>
#include <QTabBar>
#include <algorithm>

#include "gui/core/settings.h"
#include "gui/pages/pages.h"

namespace swinscope::gui {
namespace {

QString arrangement_key(const Page& page) { return QStringLiteral("arrangement/") + page.objectName(); }

// From any page to a call in the timeline.
bool is_occurrence(ActionId id) {
  return id == ActionId::kNextOccurrence || id == ActionId::kPreviousOccurrence || id == ActionId::kLongestOccurrence;
}

// Who types or chooses there goes on.
bool is_input(const QWidget* widget) {
  return qobject_cast<const QLineEdit*>(widget) != nullptr ||
         qobject_cast<const QAbstractSpinBox*>(widget) != nullptr || qobject_cast<const QComboBox*>(widget) != nullptr;
}

}  // namespace

PageStack::PageStack(const Settings& settings, QTabBar* tabs, QWidget* parent) : QStackedWidget(parent), tabs_(tabs) {
  tabs_->setObjectName(QStringLiteral("pages"));
  tabs_->setAccessibleName(QStringLiteral("Pages"));
  tabs_->setExpanding(false);
  tabs_->setDrawBase(false);
  for (const PageInfo& info : all_pages()) {
    Page* page = pages_.emplace_back(info.make(this));
    page->setObjectName(QString::fromUtf8(info.id));
    page->arrange(settings.value(arrangement_key(*page)));
    addWidget(page);
    connect(page, &Page::changed, this, [this, page] {
      if (page == &current() && wants_focus_ && !is_input(QApplication::focusWidget())) focus_page();
    });
    tabs_->addTab(plain_text(QString::fromUtf8(info.title)));
  }
  connect(tabs_, &QTabBar::currentChanged, this,
          [this](int index) { show_page(pages_[static_cast<std::size_t>(index)]->objectName()); });
}

void PageStack::keep_arrangement(Settings& settings) const {
  for (const Page* page : pages_)
    settings.set_value(arrangement_key(*page), page->arrangement());
}

QString PageStack::current_title() const { return tabs_->tabText(tabs_->currentIndex()); }

void PageStack::show_page(const QString& id) {
  const int index = find_page(id);
  if (index < 0) return;
  tabs_->setCurrentIndex(index);
  setCurrentIndex(index);
  focus_page();
  Q_EMIT page_shown();
}

// Keys of a page work while it has the focus, and it may still compute what can have it.
void PageStack::focus_page() {
  current().setFocus();
  wants_focus_ = !current().isAncestorOf(QApplication::focusWidget());
}

Page* PageStack::owner(ActionId id) const {
  if (current().has(id)) return &current();
  return is_occurrence(id) ? pages_[static_cast<std::size_t>(find_page(QStringLiteral("timeline")))] : nullptr;
}

void PageStack::perform(ActionId id) {
  if (Page* page = owner(id)) {
    if (is_occurrence(id)) show_page(page->objectName());
    return page->perform(id);
  }
  const auto page = std::ranges::find_if(pages_, [id](const Page* each) { return each->has(id); });
  if (page != pages_.end()) (*page)->perform(id);
}

bool PageStack::is_on(ActionId id) const {
  return std::ranges::any_of(pages_, [id](const Page* page) { return page->has(id) && page->is_on(id); });
}

bool PageStack::is_offered(const Page& page, ActionId id) { return page.has(id) || is_occurrence(id); }

bool PageStack::is_settled() const { return std::ranges::all_of(pages_, &Page::is_settled); }

}  // namespace swinscope::gui
