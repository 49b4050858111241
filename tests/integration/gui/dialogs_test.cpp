// The dialogs that ask for a file, answered by the keyboard.
#include <QContextMenuEvent>
#include <QFileDialog>
#include <QImage>
#include <QLineEdit>
#include <QMenu>
#include <QPointer>
#include <QSettings>
#include <QStatusBar>
#include <QTimer>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gui/core/opened.h"
#include "gui/widgets/chart_widget.h"
#include "tests/integration/gui/support.h"

namespace swinscope::tests {
namespace {

using gui::ActionId;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class DialogTest : public WindowTest {
 protected:
  DialogTest() {
    QCoreApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
    answers_.callOnTimeout([this] { answer_dialog(); });
  }

  // Does what opens a file dialog, and types this name there; nothing: leaves it by Escape.
  void answer(const QString& name, const std::function<void()>& ask) {
    name_ = name;
    answered_ = nullptr;
    answers_.start(0);
    ask();
    answers_.stop();
    settle();
  }
  void answer(const std::filesystem::path& name, ActionId action) {
    answer(qt(name), [&] { window_.perform(action); });
  }
  // What the dialog offered as the name.
  const QString& offered() const { return offered_; }

  void save_chart(const std::filesystem::path& name, Qt::Key mnemonic) {
    gui::ChartWidget* chart = overview().charts().front();
    answer(qt(name), [&] {
      QTimer choice;
      choice.callOnTimeout([&] {
        if (QWidget* menu = QApplication::activePopupWidget()) {
          choice.stop();
          QTest::keyClick(menu, mnemonic);
        }
      });
      choice.start(0);
      QContextMenuEvent event(QContextMenuEvent::Keyboard, {5, 5}, chart->mapToGlobal(QPoint(5, 5)));
      QCoreApplication::sendEvent(chart, &event);
    });
  }

  std::string status() { return window_.statusBar()->currentMessage().toStdString(); }

 private:
  void answer_dialog() {
    auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
    if (dialog == nullptr || dialog == answered_) return;
    answered_ = dialog;
    auto* edit = dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
    offered_ = edit->text();
    if (name_.isEmpty()) return QTest::keyClick(dialog, Qt::Key_Escape);
    edit->setText(name_);
    QTest::keyClick(edit, Qt::Key_Return);
  }

  QTimer answers_;
  QString name_;
  QString offered_;
  QPointer<QFileDialog> answered_;
};

TEST_F(DialogTest, TracesAndFoldersAreChosen) {
  answer(recording(), ActionId::kOpenFile);
  ASSERT_NE(window_.run(), nullptr) << banner();
  EXPECT_EQ(window_.run()->path, qt(recording()));

  const std::filesystem::path run = folder() / "run";
  std::filesystem::create_directory(run);
  std::filesystem::copy_file(recording().parent_path() / "swinscope_swin_tiny_infer_1gpu.db", run / "rank0.db");
  answer(run, ActionId::kOpenFolder);
  ASSERT_NE(window_.run(), nullptr) << banner();
  EXPECT_EQ(window_.run()->path, qt(run));

  for (const ActionId action : {ActionId::kOpenFile, ActionId::kOpenFolder, ActionId::kExportImage}) {
    answer({}, action);
    EXPECT_EQ(window_.run()->path, qt(run));
    EXPECT_EQ(banner(), "");
  }
}

TEST_F(DialogTest, ImagesAndReportsAreWrittenWhereTheUserSays) {
  open(recording());
  answer(folder() / "page.png", ActionId::kExportImage);
  EXPECT_EQ(offered(), QStringLiteral("swinscope-overview.png"));
  EXPECT_GT(QImage(qt(folder() / "page.png")).width(), 500);

  EXPECT_EQ(QSettings().value(QStringLiteral("folders/save")).toString(), qt(folder()));  // for the next dialog

  answer(folder() / "run.md", ActionId::kExportReport);
  EXPECT_EQ(offered(), QStringLiteral("report.html"));
  EXPECT_THAT(read_file(folder() / "run.md"), HasSubstr("bilinear2d"));

  answer(folder() / "run", ActionId::kExportReport);
  EXPECT_THAT(banner(), HasSubstr("give a name that ends in .html"));
  EXPECT_FALSE(std::filesystem::exists(folder() / "run"));
}

TEST_F(DialogTest, TablesAreWrittenWhereTheUserSays) {
  open(recording());
  window_.show_page(QStringLiteral("kernels"));
  settle();
  answer(folder() / "rows.md", ActionId::kExportTable);
  EXPECT_EQ(offered(), QStringLiteral("kernels.csv"));
  EXPECT_THAT(read_file(folder() / "rows.md"), HasSubstr("bilinear2d"));
  EXPECT_THAT(status(), HasSubstr("rows.md"));
  answer({}, ActionId::kExportTable);
  EXPECT_EQ(banner(), "");
}

// Each page that has a table writes it, and says the command that does.
TEST_F(DialogTest, PagesWithTablesWriteThem) {
  const std::filesystem::path path = recording().parent_path() / "swinscope_swin_tiny_ddp_2gpu";
  open(path);
  for (const auto& [page, key] : {std::pair("ranks", "late_ranks"), std::pair("query", "query")}) {
    window_.show_page(QString::fromUtf8(page));
    if (window_.can_perform(ActionId::kRunQuery)) window_.perform(ActionId::kRunQuery);
    settle();
    ASSERT_TRUE(window_.can_perform(ActionId::kExportTable)) << page;
    const std::string name = std::string(key) + ".csv";
    answer(folder() / name, ActionId::kExportTable);
    EXPECT_EQ(offered().toStdString(), name);
    EXPECT_THAT(status(), HasSubstr(name));
  }
  const std::string printed = run({"analyze", path.string(), "--table", "late_ranks", "--format", "csv"}).out;
  EXPECT_EQ(read_file(folder() / "late_ranks.csv"), printed);
}

TEST_F(DialogTest, ChartsAreSavedAsPngAndSvg) {
  open(recording().parent_path() / "swinscope_swin_tiny_ddp_2gpu");
  const gui::ChartWidget& chart = *overview().charts().front();
  save_chart(folder() / "chart.svg", Qt::Key_S);
  EXPECT_EQ(offered().toStdString(), chart.chart().title + ".svg");
  EXPECT_THAT(read_file(folder() / "chart.svg"), StartsWith("<svg"));
  EXPECT_THAT(status(), HasSubstr("chart.svg"));

  save_chart(folder() / "chart.png", Qt::Key_P);
  EXPECT_EQ(QImage(qt(folder() / "chart.png")).width(), chart.width());
  EXPECT_THAT(status(), HasSubstr("chart.png"));
}

TEST_F(DialogTest, AChartThatCannotBeSavedIsTold) {
  open(recording().parent_path() / "swinscope_swin_tiny_ddp_2gpu");
  for (const auto& [suffix, key] : {std::pair("svg", Qt::Key_S), std::pair("png", Qt::Key_P)}) {
    window_.banner().dismiss();
    save_chart(folder() / "no such folder" / (std::string("chart.") + suffix), key);
    EXPECT_THAT(banner(), HasSubstr("cannot be written"));
    EXPECT_THAT(banner(), HasSubstr("Cause: "));
  }
}

}  // namespace
}  // namespace swinscope::tests
