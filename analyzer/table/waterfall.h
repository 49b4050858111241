// Waterfalls: a row for each category, top down, so that their names can be read; the first and the last bar stand, and
// what lies between leads from the one to the other. Values stand beside the bars, with four digits.
//
// Where all that changes is small beside what stands, the axis does not begin at 0: parts of 1 % are to be seen. A
// chart whose bars are shares of a whole says that it does (y_min).
#pragma once

#include "analyzer/table/chart.h"

namespace swinscope {

// Where its axis begins; 0 where that shows the changes well enough.
double waterfall_begin(const Chart& chart);
// That its rows need; it is drawn as wide as there is room.
double waterfall_height(const Chart& chart);

// For lay_out(), which has checked the chart.
ChartLayout lay_out_waterfall(const Chart& chart, double width, double height);

}  // namespace swinscope
