#include "gui/core/mailbox.h"

namespace swinscope::gui {

void Mailbox::post(std::function<void()> letter) {
  {
    const std::lock_guard lock(mutex_);
    letters_.push_back(std::move(letter));
  }
  QMetaObject::invokeMethod(this, "deliver", Qt::QueuedConnection);
}

void Mailbox::deliver() {
  std::vector<std::function<void()>> letters;
  {
    const std::lock_guard lock(mutex_);
    letters.swap(letters_);
  }
  for (const auto& letter : letters)
    letter();
}

}  // namespace swinscope::gui
