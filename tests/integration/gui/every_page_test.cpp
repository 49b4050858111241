// What holds of every page of the list, whatever is on it: names for screen readers, the keyboard, contrast after a
// change of theme, a command, and random input.
#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAccessible>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QStatusBar>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <set>
#include <string>

#include <gmock/gmock.h>

#include "gui/widgets/chart_widget.h"
#include "gui/widgets/command_palette.h"
#include "gui/widgets/theme.h"
#include "tests/integration/gui/support.h"

namespace swinscope::tests {
namespace {

using gui::ActionId;
using testing::HasSubstr;
using testing::StartsWith;

std::filesystem::path data_file(const char* name) {
  return std::filesystem::path(SWINSCOPE_SOURCE_DIR) / "data" / name;
}

template <typename... Kinds>
bool is_one_of(const QWidget& widget) {
  return ((qobject_cast<const Kinds*>(&widget) != nullptr) || ...);
}

bool is_control(const QWidget& widget) {
  return is_one_of<QAbstractButton, QLineEdit, QPlainTextEdit, QComboBox, QAbstractItemView, gui::ChartWidget>(widget);
}

// Not a part that Qt makes inside of its own controls: these have its names.
bool is_ours(const QWidget& widget) {
  const QWidget& parent = *widget.parentWidget();
  for (const char* whole : {"QAbstractItemView", "QComboBox", "QAbstractSpinBox", "QLineEdit",
                            "QComboBoxPrivateContainer", "QTabBar", "QDockWidget", "QMenuBar"}) {
    if (parent.inherits(whole)) return false;
  }
  return !widget.objectName().startsWith(QLatin1String("qt_")) &&
         parent.objectName() != QLatin1String("qt_menubar_ext_button");
}

std::string described(const QWidget& widget, const char* page) {
  return std::string(page) + ": " + widget.metaObject()->className() + " " + widget.objectName().toStdString() +
         " in " + widget.parentWidget()->metaObject()->className();
}

// WCAG 2.2, "contrast ratio": 1 to 21.
double contrast(const QColor& a, const QColor& b) {
  const auto luminance = [](const QColor& color) {
    const auto linear = [](double v) { return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF()) + 0.05;
  };
  return std::max(luminance(a), luminance(b)) / std::min(luminance(a), luminance(b));
}

class EveryPageTest : public WindowTest {
 protected:
  // Shows each page of the recording of two GPUs, with two runs to compare.
  void for_each_page(const std::function<void(QWidget&, const char*)>& look) {
    open(data_file("swinscope_swin_tiny_ddp_2gpu"));
    ASSERT_NE(window_.run(), nullptr) << banner();
    for (const gui::PageInfo& info : gui::all_pages()) {
      window_.show_page(QString::fromUtf8(info.id));
      settle();
      look(page<QWidget>(info.id), info.id);
    }
  }
  void for_each_control(const std::function<void(QWidget&, const char*)>& look) {
    int pages = 0;
    for_each_page([&](QWidget&, const char* id) {
      ++pages;
      for (QWidget* widget : window_.findChildren<QWidget*>())
        if (widget->isVisible() && is_control(*widget) && is_ours(*widget)) look(*widget, id);
    });
    EXPECT_EQ(pages, static_cast<int>(gui::all_pages().size()));
  }
};

TEST_F(EveryPageTest, EveryControlHasAnAccessibleName) {
  int controls = 0;
  for_each_control([&](QWidget& widget, const char* id) {
    ++controls;
    const QAccessibleInterface* interface = QAccessible::queryAccessibleInterface(&widget);
    ASSERT_NE(interface, nullptr);
    EXPECT_FALSE(interface->text(QAccessible::Name).isEmpty()) << described(widget, id);
  });
  EXPECT_GT(controls, 100);
}

TEST_F(EveryPageTest, EveryControlIsReachedByTab) {
  for_each_control([&](const QWidget& widget, const char* id) {
    const bool takes_keys = widget.isEnabled() && widget.focusProxy() == nullptr;
    EXPECT_TRUE(!takes_keys || (widget.focusPolicy() & Qt::TabFocus) != 0) << described(widget, id);
  });
}

// Also what the page cannot do now: who looks for it learns its key.
TEST_F(EveryPageTest, ThePaletteListsEveryAction) {
  for_each_page([&](QWidget&, const char* id) {
    window_.perform(ActionId::kPalette);
    auto* palette = window_.findChild<gui::CommandPalette*>();
    QStringList listed;
    auto* list = palette->findChild<QListWidget*>();
    for (int i = 0; i < list->count(); ++i)
      listed << list->item(i)->text();
    const QString all = listed.join(QLatin1Char('\n'));
    for (const gui::ActionInfo& info : gui::all_actions())
      EXPECT_TRUE(all.contains(gui::plain_text(QString::fromUtf8(info.text)))) << id << ": " << info.name;
    QTest::keyClick(palette->findChild<QLineEdit*>(), Qt::Key_Escape);
  });
}

// Text has a contrast of 4.5 to what is behind it (WCAG 1.4.3), also when the theme was changed while it was shown.
TEST_F(EveryPageTest, TextCanBeReadAfterAChangeOfTheme) {
  int texts = 0;
  std::set<std::string> faults;
  for_each_page([&](QWidget&, const char* id) {
    for (const ActionId theme : {ActionId::kThemeDark, ActionId::kThemeLight, ActionId::kThemeDark}) {
      window_.perform(theme);
      QCoreApplication::processEvents();
      for (QWidget* widget : window_.findChildren<QWidget*>()) {
        if (!widget->isVisible() || !widget->isEnabled() ||
            !is_one_of<QLabel, QAbstractButton, QLineEdit, QPlainTextEdit, QAbstractItemView>(*widget))
          continue;
        ++texts;
        const QPalette& palette = widget->palette();
        const auto expect = [&](QPalette::ColorRole text, QPalette::ColorRole behind) {
          if (contrast(palette.color(text), palette.color(behind)) < 4.5)
            faults.insert(described(*widget, id) + ": " + palette.color(text).name().toStdString() + " on " +
                          palette.color(behind).name().toStdString());
        };
        expect(widget->foregroundRole(), widget->backgroundRole());
        if (is_one_of<QAbstractItemView>(*widget)) {
          expect(QPalette::Text, QPalette::AlternateBase);
          expect(QPalette::HighlightedText, QPalette::Highlight);
        }
        if (const auto* label = qobject_cast<const QLabel*>(widget);
            label != nullptr && label->text().contains(QLatin1String("<a ")))
          expect(QPalette::Link, QPalette::Window);
      }
    }
  });
  EXPECT_GT(texts, 300);
  EXPECT_THAT(faults, testing::IsEmpty());
}

// Of each page the command that prints what it shows: it runs, and is what the status bar says.
TEST_F(EveryPageTest, TheCommandOfAPageCanBeCopiedAndRuns) {
  const std::filesystem::path path = data_file("swinscope_swin_tiny_graph_1gpu.db");
  open(path);
  gui::Filter filter;
  filter.rank = 0;
  filter.steps = StepRange{2, 3};
  window_.filter().set_filter(filter);
  settle();
  std::set<std::string> without;
  for (const gui::PageInfo& info : gui::all_pages()) {
    window_.show_page(QString::fromUtf8(info.id));
    settle();
    if (!window_.can_perform(ActionId::kCopyCommand)) {
      without.insert(info.id);
      continue;
    }
    QTest::keyClick(&window_, Qt::Key_K, Qt::ControlModifier | Qt::ShiftModifier);
    const std::string command = QGuiApplication::clipboard()->text().toStdString();
    ASSERT_THAT(command, StartsWith("swinscope ")) << info.id;
    EXPECT_EQ(window_.statusBar()->currentMessage().toStdString(), "copied: " + command);
    EXPECT_THAT(command, HasSubstr(path.string())) << info.id;
    const bool is_of_all = info.id == std::string("timeline") || info.id == std::string("query");
    EXPECT_EQ(command.find("--rank 0 --steps 2:3") == std::string::npos, is_of_all) << command;
    const std::string program = this->command({}).front();
    const ProgramResult result =
        run_program({"/bin/sh", "-c", program + command.substr(std::string("swinscope").size())}, options_);
    EXPECT_EQ(result.status, 0) << command << '\n' << result.err;
  }
  // There is nothing to compare it with, and it has no layers: these pages have only a sentence.
  EXPECT_EQ(without, (std::set<std::string>{"compare", "layers", "roofline"}));
}

TEST_F(EveryPageTest, TheCommandOfRowsPrintsTheSameRows) {
  const std::filesystem::path path = data_file("swinscope_swin_tiny_graph_1gpu.db");
  open(path);
  gui::Filter filter;
  filter.steps = StepRange{2, 3};
  window_.filter().set_filter(filter);
  window_.show_page(QStringLiteral("kernels"));
  settle();
  for (const std::size_t grouping : {0U, 2U}) {
    kernels().group_by(grouping);
    settle();
    ASSERT_TRUE(kernels().export_table(qt(folder() / "rows.csv"))) << banner();
    const std::string command = kernels().command().toStdString();
    EXPECT_THAT(window_.statusBar()->currentMessage().toStdString(), HasSubstr("as does: " + command)) << command;
    const std::string program = this->command({}).front();
    const std::string line = program + command.substr(std::string("swinscope").size()) + " --format csv";
    EXPECT_EQ(run_program({"/bin/sh", "-c", line}, options_).out, read_file(folder() / "rows.csv")) << command;
  }
  // Of an experiment, too.
  open(data_file("swinscope_swin_large_weak_2gpu"));
  EXPECT_EQ(overview().command().toStdString(),
            "swinscope analyze " + data_file("swinscope_swin_large_weak_2gpu").string());
}

// Any input on any page, of what opens no dialog of the desktop and does not end the program.
class Monkey {
 public:
  explicit Monkey(std::uint32_t seed) : random_(seed) {}

  void play(QWidget& page) {
    std::vector<QWidget*> targets;
    for (QWidget* widget : page.findChildren<QWidget*>())
      if (widget->isVisible() && widget->isEnabled() && !opens_a_dialog(widget)) targets.push_back(widget);
    QWidget* target = targets.empty() ? &page : targets[below(targets.size())];
    const QPoint place(static_cast<int>(below(static_cast<std::size_t>(std::max(1, target->width())))),
                       static_cast<int>(below(static_cast<std::size_t>(std::max(1, target->height())))));
    switch (below(5)) {
      case 0:
        QTest::mouseClick(target, Qt::LeftButton, {}, place);
        break;
      case 1:
        QTest::mouseDClick(target, Qt::LeftButton, {}, place);
        break;
      case 2:
        wheel(*target, place);
        break;
      case 3:
        QTest::mousePress(target, Qt::LeftButton, {}, place);
        QTest::mouseMove(target, place / 2);
        QTest::mouseRelease(target, Qt::LeftButton, {}, place / 2);
        break;
      default:
        if (!opens_a_dialog(target)) QTest::keyClick(target, kKeys[below(kKeys.size())]);
    }
    while (QWidget* popup = QApplication::activePopupWidget())
      popup->close();
  }

 private:
  // Without T, which asks for a time, and F5 and letters that open with Ctrl.
  static constexpr std::array kKeys = {
      Qt::Key_W,    Qt::Key_S,    Qt::Key_A,     Qt::Key_D,        Qt::Key_F,     Qt::Key_0,      Qt::Key_Escape,
      Qt::Key_G,    Qt::Key_C,    Qt::Key_E,     Qt::Key_P,        Qt::Key_M,     Qt::Key_R,      Qt::Key_N,
      Qt::Key_L,    Qt::Key_Plus, Qt::Key_Minus, Qt::Key_Up,       Qt::Key_Down,  Qt::Key_Left,   Qt::Key_Right,
      Qt::Key_Home, Qt::Key_End,  Qt::Key_Tab,   Qt::Key_PageDown, Qt::Key_Slash, Qt::Key_Return, Qt::Key_Space};

  static bool opens_a_dialog(const QWidget* widget) {
    const auto* button = qobject_cast<const QAbstractButton*>(widget);
    return button != nullptr && button->text().contains(QStringLiteral("…"));
  }
  std::size_t below(std::size_t bound) { return random_() % bound; }
  void wheel(QWidget& target, QPoint place) {
    const QPoint delta(0, below(2) == 0 ? 120 : -240);
    QWheelEvent event(place, target.mapToGlobal(place), {}, delta, {},
                      below(2) == 0 ? Qt::ControlModifier : Qt::NoModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(&target, &event);
  }

  std::mt19937 random_;
};

TEST_F(EveryPageTest, RandomInputOnEveryPage) {
  // A copy: bookmarks are kept beside it.
  const std::filesystem::path path = folder() / "graph.db";
  std::filesystem::copy_file(data_file("swinscope_swin_tiny_graph_1gpu.db"), path);
  window_.open({qt(path), qt(data_file("swinscope_swin_tiny_infer_1gpu.db"))});
  settle();
  Monkey monkey(20'261'129);
  for (const gui::PageInfo& info : gui::all_pages()) {
    for (int i = 0; i < 150; ++i) {
      window_.show_page(QString::fromUtf8(info.id));
      monkey.play(page<QWidget>(info.id));
      QCoreApplication::processEvents();
      ASSERT_EQ(QApplication::activeModalWidget(), nullptr) << info.id;
    }
    settle();
    EXPECT_FALSE(window_.grab().isNull()) << info.id;
  }
  open(path);
  ASSERT_NE(window_.run(), nullptr) << banner();
  EXPECT_THAT(overview().verdict().toStdString(), HasSubstr("bound by host"));
}

}  // namespace
}  // namespace swinscope::tests
