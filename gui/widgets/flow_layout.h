// Widgets side by side, in as many lines as they need.
#pragma once

#include <QLayout>
#include <QList>

namespace swinscope::gui {

class FlowLayout : public QLayout {
 public:
  explicit FlowLayout(QWidget* parent);
  Q_DISABLE_COPY_MOVE(FlowLayout)
  ~FlowLayout() override;

  void addItem(QLayoutItem* item) override { items_.append(item); }
  int count() const override { return static_cast<int>(items_.size()); }
  QLayoutItem* itemAt(int index) const override { return items_.value(index); }
  QLayoutItem* takeAt(int index) override;
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override { return arrange({0, 0, width, 0}, false); }
  QSize sizeHint() const override { return minimumSize(); }
  QSize minimumSize() const override;
  void setGeometry(const QRect& room) override;

 private:
  // Returns the height; places the items where that is wanted.
  int arrange(const QRect& room, bool places) const;

  QList<QLayoutItem*> items_;
};

}  // namespace swinscope::gui
