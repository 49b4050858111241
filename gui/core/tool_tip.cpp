#include "gui/core/tool_tip.h"

#include <QStringList>

namespace swinscope::gui {
namespace {

constexpr qsizetype kLongestLine = 100;
constexpr qsizetype kMostLines = 30;

// As much of the text as one line has room for.
qsizetype line_length(QStringView text) {
  const qsizetype end = text.indexOf(QLatin1Char('\n'));
  const qsizetype length = end < 0 ? text.size() : end;
  if (length <= kLongestLine) return length;
  const qsizetype blank = text.first(kLongestLine + 1).lastIndexOf(QLatin1Char(' '));
  return blank > 0 ? blank : kLongestLine;
}

}  // namespace

QString tooltip_of(const QString& text) {
  QStringList lines;
  for (QStringView rest = text; !rest.isEmpty();) {
    if (lines.size() == kMostLines) {
      lines.back() += QChar(0x2026);
      break;
    }
    const qsizetype length = line_length(rest);
    lines << rest.first(length).toString();
    rest = rest.sliced(length);
    if (rest.startsWith(QLatin1Char('\n')) || rest.startsWith(QLatin1Char(' '))) rest = rest.sliced(1);
  }
  return lines.join(QLatin1Char('\n'));
}

}  // namespace swinscope::gui
