// The window itself: every control has a name, every command a place, messages and settings.
#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAccessible>
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QHelpEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QMenuBar>
#include <QMimeData>
#include <QRadioButton>
#include <QSpinBox>
#include <QStyleOptionButton>
#include <QToolTip>
#include <QTreeView>
#include <algorithm>
#include <cmath>
#include <memory>

#include <gmock/gmock.h>

#include "gui/core/layer_tree.h"
#include "gui/widgets/calls_panel.h"
#include "gui/widgets/chart_widget.h"
#include "gui/widgets/command_palette.h"
#include "gui/widgets/theme.h"
#include "tests/integration/gui/support.h"

namespace swinscope::tests {
namespace {

using gui::ActionId;
using testing::HasSubstr;

class MainWindowTest : public WindowTest {};

std::filesystem::path data_file(const char* name) {
  return std::filesystem::path(SWINSCOPE_SOURCE_DIR) / "data" / name;
}

TEST_F(MainWindowTest, NothingOverlapsOnAnyPage) {
  open(recording());
  for (const QSize size : {QSize(1280, 720), QSize(1920, 1080)}) {
    window_.resize(size);
    for (const gui::PageInfo& page : gui::all_pages()) {
      window_.show_page(QString::fromUtf8(page.id));
      settle();
      expect_nothing_overlaps();
    }
  }
}

// As the Web Content Accessibility Guidelines define it (2.2, "contrast ratio"): 1 to 21.
double contrast(const QColor& a, const QColor& b) {
  const auto luminance = [](const QColor& color) {
    const auto linear = [](double v) { return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF()) + 0.05;
  };
  return std::max(luminance(a), luminance(b)) / std::min(luminance(a), luminance(b));
}

// The same guidelines, 1.4.11: what is needed to make out a control has a contrast of 3 to what is beside it.
TEST(ThemeTest, BoxesCanBeMadeOut) {
  for (const gui::Theme theme : {gui::Theme::kDark, gui::Theme::kLight}) {
    gui::apply_theme(theme);
    for (auto* button :
         {static_cast<QAbstractButton*>(new QCheckBox), static_cast<QAbstractButton*>(new QRadioButton)}) {
      const std::unique_ptr<QAbstractButton> owner(button);
      button->setText(QStringLiteral("Case"));
      button->resize(button->sizeHint());
      const bool is_box = qobject_cast<QCheckBox*>(button) != nullptr;
      QStyleOptionButton option;
      option.initFrom(button);
      const QRect indicator = button->style()->subElementRect(
          is_box ? QStyle::SE_CheckBoxIndicator : QStyle::SE_RadioButtonIndicator, &option, button);
      const QImage image = button->grab().toImage();
      const QColor outline = image.pixelColor(indicator.left(), indicator.center().y());
      EXPECT_GE(contrast(outline, button->palette().color(QPalette::Window)), 3)
          << is_box << outline.name().toStdString();
    }
  }
}

TEST(ThemeTest, FieldsCanBeMadeOut) {
  for (const gui::Theme theme : {gui::Theme::kDark, gui::Theme::kLight}) {
    gui::apply_theme(theme);
    for (QWidget* field : {static_cast<QWidget*>(new QLineEdit), static_cast<QWidget*>(new QComboBox),
                           static_cast<QWidget*>(new QSpinBox)}) {
      const std::unique_ptr<QWidget> owner(field);
      field->resize(field->sizeHint());
      const QImage image = field->grab().toImage();
      const QColor window = field->palette().color(QPalette::Window);
      for (const QPoint side : {QPoint(0, image.height() / 2), QPoint(image.width() / 2, image.height() - 1)}) {
        const QColor outline = image.pixelColor(side);
        EXPECT_GE(contrast(outline, window), 3) << field->metaObject()->className() << outline.name().toStdString();
      }
    }
  }
}

TEST_F(MainWindowTest, LayersPageGoesThroughTheCallsInTheTimeline) {
  open(data_file("swinscope_swin_tiny_infer_1gpu.db"));
  window_.show_page(QStringLiteral("layers"));
  settle();
  QTreeView& tree = layers().tree();
  tree.expandAll();
  const QModelIndexList found = tree.model()->match(tree.model()->index(0, 0), Qt::DisplayRole, QStringLiteral("qkv"),
                                                    1, Qt::MatchRecursive | Qt::MatchContains);
  ASSERT_FALSE(found.isEmpty());
  tree.setCurrentIndex(found.front());
  settle();
  const std::size_t all = layers().calls().calls().size();
  ASSERT_GT(all, 1U);
  EXPECT_EQ(tree.currentIndex().siblingAtColumn(gui::LayerTreeModel::kCalls).data().toString().toStdString(),
            std::to_string(all));
  EXPECT_EQ(layers().calls().histogram().chart().series.size(), 1U);
  EXPECT_FALSE(layers().calls().boxes().isVisible()) << "one rank";
  window_.perform(ActionId::kNextOccurrence);
  ASSERT_EQ(window_.page_id(), QStringLiteral("timeline"));
  ASSERT_TRUE(view().selection());
  EXPECT_EQ(view().timeline()->event(*view().selection()).start_ns, layers().calls().calls()[0].start_ns);
  // One step of several: fewer calls of the same layer.
  gui::Filter filter;
  filter.steps = StepRange{1, 1};
  window_.show_page(QStringLiteral("layers"));
  for (const QSpinBox* step : window_.findChild<QWidget*>(QStringLiteral("filter"))->findChildren<QSpinBox*>())
    EXPECT_TRUE(step->isEnabled());
  window_.filter().set_filter(filter);
  settle();
  EXPECT_GT(layers().calls().calls().size(), 0U);
  EXPECT_LT(layers().calls().calls().size(), all);
  filter.stream = 4'000'000;
  window_.filter().set_filter(filter);
  settle();
  EXPECT_EQ(layers().message(), QStringLiteral("No layer passes the filter."));
}

TEST_F(MainWindowTest, CallsOfSeveralRanksHaveBoxes) {
  open(data_file("swinscope_swin_tiny_ddp_2gpu"));
  window_.show_page(QStringLiteral("kernels"));
  settle();
  gui::CallsPanel& calls = kernels().calls();
  ASSERT_FALSE(calls.calls().empty());
  EXPECT_TRUE(calls.boxes().isVisible());
  EXPECT_EQ(calls.boxes().chart().categories, (std::vector<std::string>{"rank 0", "rank 1"}));
  expect_nothing_overlaps();
}

TEST_F(MainWindowTest, LanesAndTheSelectedEventAreAccessible) {
  open(recording());
  window_.show_page(QStringLiteral("timeline"));
  QAccessibleInterface* timeline = QAccessible::queryAccessibleInterface(&view());
  ASSERT_NE(timeline, nullptr);
  const int lanes = static_cast<int>(view().rows().lanes().size());
  EXPECT_EQ(timeline->childCount(), lanes);
  EXPECT_THAT(timeline->child(0)->text(QAccessible::Name).toStdString(), HasSubstr("rank 0 · GPU · annotations"));
  EXPECT_THAT(timeline->child(0)->text(QAccessible::Description).toStdString(), HasSubstr(" events"));
  EXPECT_EQ(timeline->indexOfChild(timeline->child(1)), 1);
  press(Qt::Key_Period);
  ASSERT_EQ(timeline->childCount(), lanes + 1);
  QAccessibleInterface* event = timeline->child(lanes);
  EXPECT_EQ(event->text(QAccessible::Name).toStdString(), std::string(view().timeline()->name(*view().selection())));
  EXPECT_TRUE(event->state().selected);
  EXPECT_EQ(event->rect().topLeft(),
            view().viewport()->mapToGlobal(view().event_rect(*view().selection()).toAlignedRect().topLeft()));
}

// The recording's CPU time: drawn where it was sampled, as high as it says, with the value below the mouse.
TEST_F(MainWindowTest, SampledValuesStandBelowTheLanes) {
  open(recording().parent_path() / "swinscope_swin_tiny_infer_1gpu.db");
  window_.show_page(QStringLiteral("timeline"));
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&window_));
  ASSERT_EQ(view().rows().counters().size(), 1U);
  const gui::LaneRow& row = *view().rows().counters()[0];
  const CounterSeries& series = view().timeline()->counters[*row.counter];
  for (int i = 0; i < 100; ++i)
    view().scroll_lanes(1);  // counters come last
  const QRect place = view().row_rect(row);
  ASSERT_TRUE(view().lanes_rect().contains(QRect(view().header_width(), place.top(), 10, place.height())));

  const auto largest = std::max_element(series.values.begin(), series.values.end()) - series.values.begin();
  const auto at = static_cast<std::size_t>(largest);
  const Interval period{series.edges_ns[at], series.edges_ns[at + 1]};
  view().show_window({period.begin_ns - 3 * period.length(), period.end_ns + 3 * period.length()});
  const int x = static_cast<int>(view().x_of(period.begin_ns + period.length() / 2));
  const QImage image = view().viewport()->grab().toImage();
  const QColor color = gui::series_color(2, view().palette());
  int filled = 0;
  for (int y = place.top(); y <= place.bottom(); ++y)
    filled += image.pixelColor(x, y) == color ? 1 : 0;
  EXPECT_NEAR(filled, (place.height() - 4) * series.values[at] / series.top, 2);

  QHelpEvent help(QEvent::ToolTip, {x, place.center().y()},
                  view().viewport()->mapToGlobal(QPoint(x, place.center().y())));
  QApplication::sendEvent(view().viewport(), &help);
  EXPECT_THAT(QToolTip::text().toStdString(), HasSubstr("CPU, of one core"));
  EXPECT_THAT(QToolTip::text().toStdString(), HasSubstr(gui::counter_text(series, series.values[at]).toStdString()));

  QAccessibleInterface* all = QAccessible::queryAccessibleInterface(&view());
  QAccessibleInterface* last = all->child(all->childCount() - 1);
  EXPECT_THAT(last->text(QAccessible::Name).toStdString(), HasSubstr("CPU, of one core"));
  EXPECT_THAT(last->text(QAccessible::Description).toStdString(), HasSubstr("values up to"));
}

TEST_F(MainWindowTest, EveryActionIsInAMenuAndHasHelp) {
  QStringList texts;
  for (const QAction* menu : window_.menuBar()->actions()) {
    for (const QAction* action : menu->menu()->actions())
      texts << action->objectName();
  }
  for (const gui::ActionInfo& action : gui::all_actions())
    EXPECT_TRUE(texts.contains(QString::fromUtf8(action.name))) << action.name;
}

TEST_F(MainWindowTest, ThePaletteFindsAndDoesACommand) {
  window_.perform(ActionId::kPalette);
  auto* palette = window_.findChild<gui::CommandPalette*>();
  ASSERT_TRUE(palette->isVisible());
  auto* search = palette->findChild<QLineEdit*>();
  auto* list = palette->findChild<QListWidget*>();
  const int all = list->count();
  QTest::keyClicks(search, QStringLiteral("view kern"));
  ASSERT_GE(list->count(), 1);
  EXPECT_LT(list->count(), all);
  QTest::keyClick(search, Qt::Key_Return);
  EXPECT_EQ(window_.page_id(), QStringLiteral("kernels"));
  EXPECT_FALSE(palette->isVisible());
}

TEST_F(MainWindowTest, ThemesCanBeReadAndAreKept) {
  for (const ActionId theme : {ActionId::kThemeDark, ActionId::kThemeLight}) {
    window_.perform(theme);
    const QPalette palette = QApplication::palette();  // widgets follow once the event loop runs
    EXPECT_EQ(gui::is_dark(palette), theme == ActionId::kThemeDark);
    const int contrast =
        std::abs(palette.color(QPalette::Text).lightness() - palette.color(QPalette::Base).lightness());
    EXPECT_GT(contrast, 150);
  }
  EXPECT_EQ(gui::Settings().theme(), gui::Theme::kLight);
}

TEST_F(MainWindowTest, FilesCanBeDroppedAndAreRememberedAsRecent) {
  QMimeData data;
  data.setUrls({QUrl::fromLocalFile(qt(recording()))});
  QDragEnterEvent enter({10, 10}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(&window_, &enter);
  EXPECT_TRUE(enter.isAccepted());
  QDropEvent drop({10, 10}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(&window_, &drop);
  settle();
  ASSERT_NE(window_.run(), nullptr) << banner();
  EXPECT_EQ(gui::Settings().recent_files().front(), qt(recording()));
}

TEST_F(MainWindowTest, ChartsSayWhatIsBelowTheMouse) {
  open(data_file("swinscope_swin_tiny_ddp_2gpu"));
  gui::ChartWidget* chart = overview().charts().front();
  QStringList said;
  for (int x = 0; x < chart->width(); x += 8) {
    for (int y = 0; y < chart->height(); y += 8) {
      const QString text = chart->text_at(QPointF(x, y));
      if (!text.isEmpty() && !said.contains(text)) said << text;
    }
  }
  EXPECT_THAT(said.join(QLatin1Char('\n')).toStdString(), HasSubstr("idle, 0 / 0"));
  EXPECT_EQ(chart->text_at({1, 1}), QString());
}

}  // namespace
}  // namespace swinscope::tests
