// Light and dark, in Qt's Fusion style. Series colours are those of Okabe and Ito, as in reports.
#pragma once

#include <QColor>
#include <QPalette>
#include <QString>

#include "gui/core/settings.h"

namespace swinscope::gui {

// Colours beside the palette's.
struct Colors {
  QColor ink;
  QColor muted;
  QColor grid;
  QColor selection;  // outlines what is selected
  QColor area;       // translucent, over a selected area
  QColor hit;        // search hits
  QColor warning;    // backgrounds of messages
  QColor error;
  QColor path;  // marks what is on the critical path
};

// Takes over style and palette of the whole program. The first call notes what the desktop's own palette is.
void apply_theme(Theme theme);
bool is_dark(const QPalette& palette);
// Those that go with the palette.
Colors colors_of(const QPalette& palette);
// Black or white, whichever reads better on the colour.
QColor text_on(QColor color);
// Colour of the series of charts; index 6 is ink.
QColor series_color(int series, const QPalette& palette);

}  // namespace swinscope::gui
