#include "gui/pages/overview/step_cost.h"

#include <QEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <array>

#include "analyzer/table/render.h"
#include "gui/core/tool_tip.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/theme.h"

namespace swinscope::gui {
namespace {

constexpr int kBarHeight = 26;
constexpr int kSwatch = 12;
constexpr double kLeastTextRoom = 12;  // pixels around a name in the bar

// A part has the same colour in every run, compute and memory those of charts; what lies behind these rows, of which
// nothing is known, has none of its own.
QColor color_of(std::size_t row, const QPalette& palette) {
  constexpr std::array kSeries = {4, 1, 3, 5, 6, 7, 0, 2};
  return row < kSeries.size() ? series_color(kSeries[row], palette) : colors_of(palette).muted;
}

double number(const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*integer);
  const auto* real = std::get_if<double>(&cell);
  return real == nullptr ? 0 : *real;
}

}  // namespace

// The parts side by side; the mouse chooses one, the keyboard uses the buttons below.
class StepCost::Bar : public QWidget {
 public:
  explicit Bar(StepCost& owner) : QWidget(&owner), owner_(owner) {
    setFixedHeight(kBarHeight);
    setMouseTracking(true);
    setCursor(Qt::PointingHandCursor);
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    double x = 0;
    for (const Part& part : owner_.parts_) {
      const QRectF place(x, 0, part.share * width(), height());
      const QColor color = color_of(part.row, palette());
      painter.fillRect(place, color);
      painter.setPen(QPen(palette().color(QPalette::Window), 2));
      painter.drawLine(place.topRight(), place.bottomRight());
      if (painter.fontMetrics().horizontalAdvance(part.name) + kLeastTextRoom < place.width()) {
        painter.setPen(text_on(color));
        painter.drawText(place, Qt::AlignCenter, part.name);
      }
      x += place.width();
    }
  }
  void mouseMoveEvent(QMouseEvent* event) override {
    const Part* part = part_at(event->position().x());
    setToolTip(part == nullptr ? QString() : tooltip_of(part->text));
  }
  void mouseReleaseEvent(QMouseEvent* event) override {
    if (const Part* part = part_at(event->position().x())) Q_EMIT owner_.part_activated(part->name);
  }

 private:
  const Part* part_at(double x) const {
    for (const Part& part : owner_.parts_) {
      if (x < part.share * width()) return &part;
      x -= part.share * width();
    }
    return nullptr;
  }

  StepCost& owner_;
};

StepCost::StepCost(QWidget* parent)
    : QWidget(parent), title_(new QLabel(this)), bar_(new Bar(*this)), legend_(new QWidget(this)) {
  QFont bold = title_->font();
  bold.setBold(true);
  title_->setFont(bold);
  title_->setTextFormat(Qt::PlainText);
  bar_->setObjectName(QStringLiteral("step_cost_bar"));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 4, 0, 4);
  column->addWidget(title_);
  column->addWidget(bar_);
  column->addWidget(legend_);
  new FlowLayout(legend_);
}

void StepCost::set_parts(const Table& bounds) {
  parts_.clear();
  double sum = 0;
  const std::size_t time = bounds.rows.empty() ? 0 : find_column(bounds, "per_step_ns");
  for (std::size_t i = 0; i < bounds.rows.size(); ++i) {
    const double part = number(bounds.rows[i][time]);
    if (part <= 0) continue;
    sum += part;
    const QString name = QString::fromStdString(std::get<std::string>(bounds.rows[i][0]));
    QString text = name;
    for (std::size_t column : {time, std::size_t{1}})
      text += (column == time ? QStringLiteral("  ") : QStringLiteral(", ")) +
              QString::fromStdString(format_cell(bounds.rows[i][column], bounds.columns[column].unit));
    parts_.push_back({name, text, part, i});
  }
  for (Part& part : parts_)
    part.share /= sum;
  std::ranges::stable_sort(parts_, std::ranges::greater(), &Part::share);
  title_->setText(QString::fromStdString(bounds.title));
  title_->setToolTip(tooltip_of(QString::fromStdString(bounds.definition)));
  paint_buttons();
  setVisible(!parts_.empty());
  bar_->update();
}

// A swatch of the part's colour stands before its text, so that no colour has to be read as text.
void StepCost::paint_buttons() {
  qDeleteAll(buttons_);
  buttons_.clear();
  for (const Part& part : parts_) {
    QPixmap swatch(kSwatch, kSwatch);
    swatch.fill(color_of(part.row, palette()));
    auto* button = new QToolButton(legend_);
    button->setAutoRaise(true);
    button->setFocusPolicy(Qt::StrongFocus);
    button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    button->setIcon(swatch);
    button->setText(part.text);
    button->setAccessibleName(part.text);
    button->setAccessibleDescription(QStringLiteral("Shows the evidence"));
    connect(
        button, &QToolButton::clicked, this, [this, name = part.name] { Q_EMIT part_activated(name); },
        Qt::QueuedConnection);
    legend_->layout()->addWidget(button);
    button->show();
    buttons_.push_back(button);
  }
}

void StepCost::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && !parts_.empty()) paint_buttons();
}

}  // namespace swinscope::gui
