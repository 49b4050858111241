// What the first page shows while nothing is open: how to open something, what was open lately, and a recording to try.
#pragma once

#include <QStringList>
#include <QWidget>

class QListWidget;
class QPushButton;

namespace swinscope::gui {

class StartPanel : public QWidget {
  Q_OBJECT

 public:
  explicit StartPanel(QWidget* parent = nullptr);

  // Reads what the settings keep.
  void refresh();
  QListWidget& recent() { return *recent_; }
  QPushButton& demo() { return *demo_; }

 Q_SIGNALS:
  void open_requested(const QStringList& paths);

 private:
  QListWidget* recent_;
  QPushButton* demo_;
};

}  // namespace swinscope::gui
