#include "gui/widgets/flow_layout.h"

#include <algorithm>

namespace swinscope::gui {
namespace {

constexpr int kGap = 4;

}  // namespace

FlowLayout::FlowLayout(QWidget* parent) : QLayout(parent) { setContentsMargins(0, 0, 0, 0); }

FlowLayout::~FlowLayout() { qDeleteAll(items_); }

QLayoutItem* FlowLayout::takeAt(int index) {
  return index >= 0 && index < items_.size() ? items_.takeAt(index) : nullptr;
}

QSize FlowLayout::minimumSize() const {
  QSize size;
  for (const QLayoutItem* item : items_)
    size = size.expandedTo(item->minimumSize());
  return size;
}

void FlowLayout::setGeometry(const QRect& room) {
  QLayout::setGeometry(room);
  arrange(room, true);
}

int FlowLayout::arrange(const QRect& room, bool places) const {
  int x = room.left();
  int y = room.top();
  int line = 0;
  for (QLayoutItem* item : items_) {
    const QSize size = item->sizeHint();
    if (x > room.left() && x + size.width() > room.left() + room.width()) {
      x = room.left();
      y += line + kGap;
      line = 0;
    }
    if (places) item->setGeometry({QPoint(x, y), size});
    x += size.width() + kGap;
    line = std::max(line, size.height());
  }
  return y + line - room.top();
}

}  // namespace swinscope::gui
