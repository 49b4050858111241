#include "gui/widgets/theme.h"

#include <QApplication>
#include <QPainter>
#include <QProxyStyle>
#include <QStyleOption>
#include <QTableView>
#include <QToolTip>
#include <QTreeView>
#include <array>
#include <cmath>

namespace swinscope::gui {
namespace {

QPalette light_palette() {
  QPalette p(QColor("#1a1a1a"), QColor("#f0f0f0"), QColor("#ffffff"), QColor("#b0b0b0"), QColor("#d0d0d0"),
             QColor("#1a1a1a"), QColor("#ffffff"), QColor("#ffffff"), QColor("#f5f5f5"));
  p.setColor(QPalette::AlternateBase, QColor("#f4f6f8"));
  p.setColor(QPalette::Highlight, QColor("#0062a3"));
  p.setColor(QPalette::HighlightedText, QColor("#ffffff"));
  p.setColor(QPalette::Link, QColor("#00558f"));
  p.setColor(QPalette::PlaceholderText, QColor("#666666"));
  p.setColor(QPalette::ToolTipBase, QColor("#ffffff"));
  p.setColor(QPalette::ToolTipText, QColor("#1a1a1a"));
  return p;
}

QPalette dark_palette() {
  QPalette p(QColor("#e6e6e6"), QColor("#33363a"), QColor("#565b61"), QColor("#1a1c1e"), QColor("#2b2e32"),
             QColor("#e6e6e6"), QColor("#ffffff"), QColor("#1d1f22"), QColor("#26282b"));
  p.setColor(QPalette::AlternateBase, QColor("#24272a"));
  p.setColor(QPalette::Highlight, QColor("#2974b3"));
  p.setColor(QPalette::HighlightedText, QColor("#ffffff"));
  p.setColor(QPalette::Link, QColor("#6cb8f0"));
  p.setColor(QPalette::PlaceholderText, QColor("#a0a4a8"));
  p.setColor(QPalette::ToolTipBase, QColor("#33363a"));
  p.setColor(QPalette::ToolTipText, QColor("#e6e6e6"));
  return p;
}

// Fusion outlines boxes, round buttons and fields darker than the window, so that on a dark one they cannot be made
// out, nor fields well on a light one.
class Style : public QProxyStyle {
 public:
  Style() : QProxyStyle(QStringLiteral("Fusion")) {}

  // Numbers end at the right of their column where texts begin in the next one: "36.6 ms" and "step ranges" are two.
  int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override {
    const bool has_columns =
        qobject_cast<const QTableView*>(widget) != nullptr || qobject_cast<const QTreeView*>(widget) != nullptr;
    if (metric == PM_FocusFrameHMargin && has_columns) return kCellMargin;
    return QProxyStyle::pixelMetric(metric, option, widget);
  }

  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override {
    QProxyStyle::drawPrimitive(element, option, painter, widget);
    if (element == PE_IndicatorRadioButton)
      outline(*option, *painter, [](QPainter& p, const QRectF& r) { p.drawEllipse(r); });
    if (element == PE_IndicatorCheckBox || element == PE_FrameLineEdit) outline_box(*option, *painter);
  }

  void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                          const QWidget* widget) const override {
    QProxyStyle::drawComplexControl(control, option, painter, widget);
    if (control == CC_ComboBox || control == CC_SpinBox) outline_box(*option, *painter);
  }

 private:
  template <typename Draw>
  static void outline(const QStyleOption& option, QPainter& painter, const Draw& draw) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(colors_of(option.palette).muted);
    draw(painter, QRectF(option.rect).adjusted(0.5, 0.5, -0.5, -0.5));
    painter.restore();
  }

  static constexpr int kCellMargin = 5;

  // Where the keyboard is, Fusion's own outline says so.
  static void outline_box(const QStyleOption& option, QPainter& painter) {
    if (option.state.testFlag(State_HasFocus)) return;
    outline(option, painter, [](QPainter& p, const QRectF& r) { p.drawRect(r); });
  }
};

void dim_disabled(QPalette& palette) {
  const QColor dim(is_dark(palette) ? "#7d8288" : "#8a8a8a");
  for (const QPalette::ColorRole role : {QPalette::Text, QPalette::WindowText, QPalette::ButtonText})
    palette.setColor(QPalette::Disabled, role, dim);
}

}  // namespace

bool is_dark(const QPalette& palette) { return palette.color(QPalette::Window).lightness() < 128; }

void apply_theme(Theme theme) {
  // Qt 6.4 does not say which scheme the desktop has; the palette it starts with shows it.
  static const bool desktop_is_dark = is_dark(QApplication::palette());
  const bool dark = theme == Theme::kDark || (theme == Theme::kSystem && desktop_is_dark);
  QPalette palette = dark ? dark_palette() : light_palette();
  dim_disabled(palette);
  QApplication::setStyle(new Style);  // which takes it over
  QApplication::setPalette(palette);  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): the style is the application's
  QToolTip::setPalette(palette);
}

Colors colors_of(const QPalette& palette) {
  if (is_dark(palette)) {
    return {QColor("#e6e6e6"), QColor("#a0a4a8"), QColor("#3a3e43"), QColor("#ffffff"), QColor(110, 180, 255, 60),
            QColor("#f0e442"), QColor("#4a3f14"), QColor("#5a2323"), QColor("#e69f00")};
  }
  return {QColor("#1a1a1a"), QColor("#5c5c5c"), QColor("#dddddd"), QColor("#000000"), QColor(0, 98, 163, 45),
          QColor("#c02d00"), QColor("#fff3c4"), QColor("#ffdcd6"), QColor("#d55e00")};
}

QColor text_on(QColor color) {
  const auto linear = [](float c) { return c <= 0.04045F ? c / 12.92F : std::pow((c + 0.055F) / 1.055F, 2.4F); };
  const float luminance =
      0.2126F * linear(color.redF()) + 0.7152F * linear(color.greenF()) + 0.0722F * linear(color.blueF());
  return luminance > 0.179F ? QColor(Qt::black) : QColor(Qt::white);
}

QColor series_color(int series, const QPalette& palette) {
  constexpr std::array<const char*, 8> kColors = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                  "#E69F00", "#56B4E9", nullptr,   "#F0E442"};
  const char* name = kColors[static_cast<std::size_t>(series) % kColors.size()];
  return name == nullptr ? colors_of(palette).ink : QColor(QLatin1String(name));
}

}  // namespace swinscope::gui
