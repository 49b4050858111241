// The measured step above the simulated one, on one axis of time: what moves, what falls away, and where the saved time
// is. Wheel, mouse and keys zoom and pan both.
#pragma once

#include <QWidget>
#include <memory>

#include "gui/core/opportunities.h"
#include "gui/core/viewport.h"

namespace swinscope::gui {

class StepLanes;

class StepTimelines : public QWidget {
  Q_OBJECT

 public:
  explicit StepTimelines(QWidget* parent = nullptr);

  // The pictures of what is applied now. The zoom stays where they are of the same step.
  void show_step(const Opportunities& opportunities);
  bool has_pictures() const { return pictures_ != nullptr; }

  void zoom(double factor);
  void pan(double widths);
  void fit_all();

  Interval seen() const { return view_.range(); }
  StepLanes& measured() { return *measured_; }
  StepLanes& simulated() { return *simulated_; }

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

  std::shared_ptr<const StepPictures> pictures_;
  std::int64_t step_ = 0;  // that they are of
  Viewport view_;
  StepLanes* measured_;
  StepLanes* simulated_;
};

}  // namespace swinscope::gui
