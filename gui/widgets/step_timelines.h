// Two steps above each other, on one axis of time: the measured one and the simulated one, or those of two runs. Wheel,
// mouse and keys zoom and pan both.
#pragma once

#include <QWidget>
#include <memory>

#include "gui/core/actions.h"
#include "gui/core/step_pictures.h"
#include "gui/core/viewport.h"

namespace swinscope::gui {

class StepLanes;

class StepTimelines : public QWidget {
  Q_OBJECT

 public:
  // The names of both, for those who cannot see them: "Measured step".
  StepTimelines(const QString& above, const QString& below, QWidget* parent = nullptr);

  struct Shown {
    std::shared_ptr<const StepPicture> picture;  // null: there is none
    QString heading;                             // "Measured: step 2, 236.0 ms"
  };
  // The zoom stays where `of` is the same: what they are of.
  void show_steps(const Shown& above, const Shown& below, const QString& of);
  bool has_pictures() const { return above_picture_ != nullptr && below_picture_ != nullptr; }

  void zoom(double factor);
  void pan(double widths);
  void fit_all();
  // Of the timeline's actions those that move what is seen.
  static bool moves(ActionId action);
  void move_by(ActionId action);

  Interval seen() const { return view_.range(); }
  StepLanes& above() { return *above_; }
  StepLanes& below() { return *below_; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void zoom_at(double factor, double x);
  void set_view(const Viewport& view);
  Interval span() const;
  bool sees_all() const;
  int view_pixels() const;
  QRect ruler_rect() const;

  std::shared_ptr<const StepPicture> above_picture_;
  std::shared_ptr<const StepPicture> below_picture_;
  QString of_;
  Viewport view_;
  StepLanes* above_;
  StepLanes* below_;
};

}  // namespace swinscope::gui
