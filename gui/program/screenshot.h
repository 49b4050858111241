// A picture of the window once everything is on it: for the documentation, and to look at in tests.
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>

namespace swinscope::gui {

class MainWindow;

struct ScreenshotOptions {
  QString file;  // empty: none is taken, and the program goes on
  QString find;  // searched for in the timeline, where the first hit is shown
};

// Ends the program when the picture is written: with status 1 where it could not be, or a run could not be opened.
class Screenshot : public QObject {
 public:
  Screenshot(MainWindow& window, ScreenshotOptions options);

 private:
  void look();
  bool find();
  void take();

  MainWindow& window_;
  ScreenshotOptions options_;
  bool has_searched_ = false;
  bool has_found_ = false;
  int looks_settled_ = 0;  // in a row
  QTimer timer_;
};

}  // namespace swinscope::gui
