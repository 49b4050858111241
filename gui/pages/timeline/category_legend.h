// What the colours of the timeline's events mean: a square and a name for each category that its names have.
#pragma once

#include <QWidget>
#include <vector>

#include "gui/core/palette.h"

namespace swinscope::gui {

class CategoryLegend : public QWidget {
 public:
  explicit CategoryLegend(QWidget* parent = nullptr);

  void set_categories(std::vector<EventCategory> categories);
  const std::vector<EventCategory>& categories() const { return categories_; }

  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::vector<EventCategory> categories_;
};

}  // namespace swinscope::gui
