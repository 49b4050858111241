// A line of text that is cut in the middle where there is no room for all of it; its tooltip is the whole.
#pragma once

#include <QLabel>

namespace swinscope::gui {

class ElidedLabel : public QLabel {
  Q_OBJECT

 public:
  explicit ElidedLabel(const QString& text, QWidget* parent = nullptr);

  bool is_elided() const;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace swinscope::gui
