#include "gui/widgets/plain_tips.h"

#include <QCoreApplication>
#include <QEvent>
#include <QLabel>

namespace swinscope::gui {
namespace {

constexpr const char* kName = "plain_tips";

// A tool tip is a label; it is polished when it is made, before it has a text.
class PlainLabels : public QObject {
 public:
  explicit PlainLabels(QObject* parent) : QObject(parent) { setObjectName(QLatin1String(kName)); }

  bool eventFilter(QObject* object, QEvent* event) override {
    if (event->type() == QEvent::Polish) {
      auto* label = qobject_cast<QLabel*>(object);
      if (label != nullptr && label->textFormat() == Qt::AutoText) label->setTextFormat(Qt::PlainText);
    }
    return false;
  }
};

}  // namespace

void show_tips_plainly() {
  QCoreApplication* program = QCoreApplication::instance();
  if (program->findChild<QObject*>(QLatin1String(kName), Qt::FindDirectChildrenOnly) != nullptr) return;
  program->installEventFilter(new PlainLabels(program));
}

}  // namespace swinscope::gui
