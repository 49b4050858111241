#include "gui/pages/computed_page.h"

#include <QLabel>

namespace swinscope::gui {

QLabel* wrapped_label(const QString& name, QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setObjectName(name);
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  return label;
}

ComputedPage::ComputedPage(const QString& name, QWidget* parent)
    : Page(parent), without_run_(QStringLiteral("No run is open.")), message_(wrapped_label(name, this)) {
  message_->setAlignment(Qt::AlignCenter);
}

QString ComputedPage::without_run(const Session& /*session*/) const { return QStringLiteral("No run is open."); }

void ComputedPage::set_session(const Session& session) {
  run_ = session.run;
  without_run_ = without_run(session);
  is_unfinished_ = false;
  invalidate();
}

void ComputedPage::set_filter(const Filter& filter) {
  if (filter == filter_) return;
  const Filter before = std::exchange(filter_, filter);
  if (is_of_another(before)) invalidate();
}

void ComputedPage::set_unfinished() {
  if (run_ == nullptr || run_->trace != nullptr) return;
  is_unfinished_ = true;
  invalidate();
}

void ComputedPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  refresh();
}

void ComputedPage::invalidate() {
  is_stale_ = true;
  forget();
  refresh();
}

void ComputedPage::refresh() {
  if (!is_stale_ || !isVisible()) return;
  is_stale_ = false;
  if (run_ == nullptr) return show_message(without_run_);
  if (run_->trace == nullptr) {
    return show_message(is_unfinished_ ? QStringLiteral("Not analyzed: loading did not end. F5 loads it again.")
                                       : QStringLiteral("Analyzing…"));
  }
  compute();
}

void ComputedPage::show_message(const QString& text) {
  message_->setText(text);
  message_->setVisible(!text.isEmpty());
  show_content(text.isEmpty());
  Q_EMIT changed();
}

QString ComputedPage::message() const { return message_->isHidden() ? QString() : message_->text(); }

}  // namespace swinscope::gui
