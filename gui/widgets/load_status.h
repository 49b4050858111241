// What is being loaded and how far it is, with Cancel: in the status bar, while there is something.
#pragma once

#include <QObject>

class QLabel;
class QProgressBar;
class QPushButton;
class QStatusBar;

namespace swinscope::gui {

class Loader;

class LoadStatus : public QObject {
  Q_OBJECT

 public:
  LoadStatus(QStatusBar& bar, Loader& loader);

 private:
  void begin(const QString& path);
  void end();

  QLabel* phase_;
  QProgressBar* progress_;
  QPushButton* cancel_;
};

}  // namespace swinscope::gui
