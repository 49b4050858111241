// A flame graph, the outermost ranges on top: a box for each chain of names, as wide as its time. A click, or Enter,
// makes a box the whole width; Escape or Backspace goes back out. Arrows move from box to box.
#pragma once

#include <QWidget>
#include <memory>
#include <optional>

#include "gui/core/flame_graph.h"

namespace swinscope::gui {

class FlameWidget : public QWidget {
  Q_OBJECT

 public:
  explicit FlameWidget(QWidget* parent = nullptr);

  void set_graph(std::shared_ptr<const Timeline> timeline, FlameGraph graph);
  // The node that fills the width, and the one that the keyboard is at; 0 is everything.
  std::uint32_t zoomed() const { return zoomed_; }
  std::uint32_t current() const { return current_; }
  // Empty where it is too thin to be drawn.
  QRectF box_of(std::uint32_t node) const;
  std::optional<std::uint32_t> node_at(QPointF position) const;
  // "aten::linear: 12.3 ms, 45.6 %, 24 calls"
  QString text_of(std::uint32_t node) const;

  QSize sizeHint() const override { return {400, 140}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void zoom_to(std::uint32_t node);
  void move_to(std::optional<std::uint32_t> node);
  bool is_within(std::uint32_t node, std::uint32_t outer) const;
  std::int64_t begin_ns(std::uint32_t node) const;
  std::optional<std::uint32_t> first_child(std::uint32_t node) const;
  std::optional<std::uint32_t> sibling(std::uint32_t node, bool forward) const;

  std::shared_ptr<const Timeline> timeline_;
  FlameGraph graph_;
  std::uint32_t zoomed_ = 0;
  std::uint32_t current_ = 0;
};

}  // namespace swinscope::gui
