// The whole trace in one strip: how busy GPU and host were, the steps, search hits, bookmarks, and what the view shows.
#pragma once

#include <QWidget>
#include <memory>

#include "gui/core/background.h"
#include "gui/core/minimap.h"

namespace swinscope::gui {

class MinimapWidget : public QWidget {
  Q_OBJECT

 public:
  explicit MinimapWidget(QWidget* parent = nullptr);

  void set_timeline(std::shared_ptr<const Timeline> timeline);
  void set_window(Interval window);
  // Hits in each of as many equal parts of the trace.
  void set_ticks(std::vector<std::uint32_t> ticks);
  void set_bookmarks(std::vector<std::int64_t> times_ns);
  const std::vector<std::uint32_t>& ticks() const { return ticks_; }
  bool is_busy() const { return !background_.is_idle(); }
  std::size_t step_count() const { return minimap_.steps_ns.size(); }

  QSize sizeHint() const override { return {600, 56}; }

 Q_SIGNALS:
  // The user wants to see the time around this one.
  void centre_requested(std::int64_t time_ns);
  // The user dragged over this part.
  void window_requested(swinscope::Interval window);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void compute();
  double x_of(std::int64_t time_ns) const;
  std::int64_t time_at(double x) const;
  void paint_busy(QPainter& painter, const std::vector<float>& busy, int series, int top, int height) const;
  void paint_ticks(QPainter& painter) const;

  std::shared_ptr<const Timeline> timeline_;
  Minimap minimap_;
  Interval span_;
  Interval window_;
  std::vector<std::uint32_t> ticks_;
  std::vector<std::int64_t> bookmarks_;
  Background background_;

  // What the mouse moves: an end of the window, the whole window, or both ends of a new one.
  enum class Drag { kNone, kPress, kBegin, kEnd, kWindow, kRange };
  Drag drag_ = Drag::kNone;
  double pressed_x_ = 0;
  Interval pressed_window_;
};

}  // namespace swinscope::gui
