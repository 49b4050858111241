#include "gui/core/tool_tip.h"

#include <QStringList>

#include <gtest/gtest.h>

namespace swinscope::gui {
namespace {

TEST(ToolTip, LongLinesAreBrokenAndWhatIsEndlessIsCut) {
  EXPECT_EQ(tooltip_of(QString()), QString());
  EXPECT_EQ(tooltip_of(QStringLiteral("<b>one</b>\n\ntwo")), QStringLiteral("<b>one</b>\n\ntwo"));
  const QString word(60, QLatin1Char('w'));
  EXPECT_EQ(tooltip_of(word + QLatin1Char(' ') + word), word + QLatin1Char('\n') + word) << "at a blank";
  const QStringList lines = tooltip_of(QString(250, QLatin1Char('n'))).split(QLatin1Char('\n'));
  ASSERT_EQ(lines.size(), 3);
  EXPECT_EQ(lines[0].size(), 100);
  EXPECT_EQ(lines[2].size(), 50);
  const QString cut = tooltip_of(QString(1'000'000, QLatin1Char('n')));
  EXPECT_EQ(cut.size(), 30 * 100 + 29 + 1) << "30 lines, their ends and the mark";
  EXPECT_TRUE(cut.endsWith(QChar(0x2026)));
}

}  // namespace
}  // namespace swinscope::gui
