// One figure, large; choosing it opens the page that shows where it comes from.
#pragma once

#include <QAbstractButton>

namespace swinscope::gui {

class Card : public QAbstractButton {
  Q_OBJECT

 public:
  explicit Card(QWidget* parent = nullptr);

  // `note`: below the value; may be empty.
  void set_figure(const QString& title, const QString& value, const QString& note);
  QString value() const { return value_; }

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void enterEvent(QEnterEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  QString title_;
  QString value_;
  QString note_;
};

}  // namespace swinscope::gui
