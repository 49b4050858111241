// From any thread into the one of the window: what is posted is done there, in order.
#pragma once

#include <QObject>
#include <functional>
#include <mutex>
#include <vector>

namespace swinscope::gui {

class Mailbox : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  // Whoever posts must be done before this object goes; what has not been done by then never is.
  void post(std::function<void()> letter);

 private:
  Q_INVOKABLE void deliver();

  // What the letters hold goes through this lock, and not only through Qt's own: race detectors cannot see into Qt.
  std::mutex mutex_;
  std::vector<std::function<void()>> letters_;
};

}  // namespace swinscope::gui
