#include "gui/pages/timeline/search_bar.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <utility>

#include "analyzer/base/text.h"

namespace swinscope::gui {
namespace {

constexpr std::size_t kTickColumns = 2000;  // of the minimap; more than it has pixels

}  // namespace

SearchBar::SearchBar(QWidget* parent)
    : QWidget(parent),
      edit_(new QLineEdit(this)),
      regex_(new QCheckBox(QStringLiteral("Regular expression"), this)),
      status_(new QLabel(this)),
      list_(new QToolButton(this)) {
  setObjectName(QStringLiteral("search"));
  edit_->setObjectName(QStringLiteral("search_text"));
  edit_->setPlaceholderText(QStringLiteral("Part of an event's name"));
  edit_->setAccessibleName(QStringLiteral("Search events by name"));
  edit_->setClearButtonEnabled(true);
  status_->setMinimumWidth(150);
  status_->setAccessibleName(QStringLiteral("Search result"));
  const auto button = [this](const QString& text, const QString& name, auto slot) {
    auto* made = new QToolButton(this);
    made->setText(text);
    made->setAccessibleName(name);
    made->setToolTip(name);
    connect(made, &QToolButton::clicked, this, slot);
    return made;
  };
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(6, 3, 6, 3);
  auto* label = new QLabel(QStringLiteral("&Search"), this);
  label->setBuddy(edit_);
  row->addWidget(label);
  row->addWidget(edit_, 1);
  row->addWidget(regex_);
  row->addWidget(status_);
  list_->setText(QStringLiteral("List"));
  list_->setObjectName(QStringLiteral("list_hits"));
  list_->setCheckable(true);
  list_->setAccessibleName(QStringLiteral("List the hits"));
  list_->setToolTip(QStringLiteral("All hits below, in order of their time"));
  connect(list_, &QToolButton::toggled, this, &SearchBar::list_toggled);
  row->addWidget(list_);
  row->addWidget(button(QStringLiteral("Previous"), QStringLiteral("Previous hit (Shift+Enter)"),
                        [this] { Q_EMIT next_requested(false); }));
  row->addWidget(
      button(QStringLiteral("Next"), QStringLiteral("Next hit (Enter)"), [this] { Q_EMIT next_requested(true); }));
  row->addWidget(
      button(QStringLiteral("Close"), QStringLiteral("Close the search (Esc)"), [this] { Q_EMIT closed(); }));
  connect(edit_, &QLineEdit::textChanged, this, &SearchBar::search_again);
  connect(regex_, &QCheckBox::toggled, this, &SearchBar::search_again);
  hide();
}

void SearchBar::set_timeline(std::shared_ptr<const Timeline> timeline) {
  timeline_ = std::move(timeline);
  search_again();
}

void SearchBar::start() {
  show();
  edit_->setFocus();
  edit_->selectAll();
}

void SearchBar::set_text(const QString& text) { edit_->setText(text); }
QString SearchBar::text() const { return edit_->text(); }
QString SearchBar::status() const { return status_->text(); }

void SearchBar::search_again() {
  const std::string pattern = edit_->text().toStdString();
  if (timeline_ == nullptr || pattern.empty()) {
    background_.forget();
    finish({}, {});
    return;
  }
  const SearchMode mode = regex_->isChecked() ? SearchMode::kRegex : SearchMode::kSubstring;
  const auto work = [timeline = timeline_, pattern, mode]() -> std::pair<SearchResult, QString> {
    try {
      return {search(*timeline, pattern, mode, kTickColumns, 1), {}};
    } catch (const Error& error) {  // no regular expression yet: the user is still typing it
      return {{}, QString::fromUtf8(error.what())};
    }
  };
  background_.start(work,
                    [this](std::pair<SearchResult, QString> found) { finish(std::move(found.first), found.second); });
}

void SearchBar::finish(SearchResult result, const QString& problem) {
  result_ = std::move(result);
  QString status = problem;
  if (status.isEmpty() && !edit_->text().isEmpty() && timeline_ != nullptr) {
    status = hits_text(result_.total);
  }
  status_->setText(status);
  Q_EMIT searched();
}

QString SearchBar::hits_text(std::uint64_t hits) {
  const QString count = QString::fromStdString(format_count(static_cast<std::int64_t>(hits)));
  return hits == 1 ? QStringLiteral("1 hit") : QStringLiteral("%1 hits").arg(count);
}

void SearchBar::set_number(std::uint64_t number, std::uint64_t count) {
  if (result_.names.empty()) return;
  status_->setText(number == 0 ? hits_text(count)
                               : QStringLiteral("%1 of %2")
                                     .arg(QString::fromStdString(format_count(static_cast<std::int64_t>(number))),
                                          hits_text(count)));
}

void SearchBar::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) {
    Q_EMIT closed();
  } else if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
    Q_EMIT next_requested(!event->modifiers().testFlag(Qt::ShiftModifier));
  } else {
    QWidget::keyPressEvent(event);
  }
}

}  // namespace swinscope::gui
