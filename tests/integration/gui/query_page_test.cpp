// The console for SQL, as a user uses it: a query, its rows, and one of them in the timeline; also by the keyboard.
#include "gui/pages/query/query_page.h"

#include <QLineEdit>
#include <QMenu>
#include <QPlainTextEdit>
#include <QTabBar>
#include <QTreeWidget>

#include <gmock/gmock.h>

#include "gui/core/saved_queries.h"
#include "gui/pages/query/query_list.h"
#include "tests/integration/gui/support.h"

namespace swinscope::tests {
namespace {

using gui::ActionId;
using testing::HasSubstr;

std::filesystem::path data_file(const char* name) {
  return std::filesystem::path(SWINSCOPE_SOURCE_DIR) / "data" / name;
}

class QueryPageTest : public WindowTest {
 protected:
  gui::QueryPage& queries() { return page<gui::QueryPage>("query"); }
  void ask(const QString& sql) {
    queries().editor().setPlainText(sql);
    QTest::keyClick(&queries().editor(), Qt::Key_Return, Qt::ControlModifier);
    settle();
  }
  std::string status() { return queries().status().toStdString(); }
  static QPoint centre_of(const QTreeWidget& list, QTreeWidgetItem* item) { return list.visualItemRect(item).center(); }
};

// Must be done in three clicks: the page, an example, a row.
TEST_F(QueryPageTest, FromAQueryToTheTimelineInThreeClicks) {
  open(data_file("swinscope_swin_tiny_graph_1gpu.db"));
  int clicks = 0;
  auto* tabs = window_.findChild<QTabBar*>(QStringLiteral("pages"));
  QTest::mouseClick(tabs, Qt::LeftButton, {}, tabs->tabRect(gui::find_page(QStringLiteral("query"))).center());
  ++clicks;
  ASSERT_EQ(window_.page_id(), QStringLiteral("query"));
  settle();
  QTreeWidget& list = queries().list().queries();
  QTreeWidgetItem* longest =
      list.findItems(QStringLiteral("Longest kernels"), Qt::MatchExactly | Qt::MatchRecursive).front();
  QTest::mouseClick(list.viewport(), Qt::LeftButton, {}, centre_of(list, longest));  // of the double click
  QTest::mouseDClick(list.viewport(), Qt::LeftButton, {}, centre_of(list, longest));
  ++clicks;
  settle();
  gui::TablePanel& rows = queries().rows();
  ASSERT_EQ(rows.model()->rowCount(), 100) << status();
  const QRect cell = rows.visualRect(rows.model()->index(0, 0));
  QTest::mouseClick(rows.viewport(), Qt::LeftButton, {}, cell.center());
  QTest::mouseDClick(rows.viewport(), Qt::LeftButton, {}, cell.center());
  ++clicks;
  EXPECT_EQ(window_.page_id(), QStringLiteral("timeline"));
  EXPECT_LE(clicks, 3);
  ASSERT_TRUE(view().selection());
  const LaneEvent event = view().timeline()->event(*view().selection());
  EXPECT_EQ(std::to_string(event.duration_ns), rows.text_at(0, "ns").toStdString());
  EXPECT_EQ(std::string(view().timeline()->name(*view().selection())).find(rows.text_at(0, "kernel").toStdString()) !=
                std::string::npos,
            true);
}

TEST_F(QueryPageTest, SaysTheSameAsTheCommand) {
  const std::filesystem::path path = data_file("swinscope_swin_tiny_ddp_2gpu");
  open(path);
  window_.show_page(QStringLiteral("query"));
  ask(QStringLiteral("SELECT start FROM CUPTI_ACTIVITY_KIND_KERNEL LIMIT 20"));
  EXPECT_EQ(queries().rows().model()->rowCount(), 40);
  EXPECT_THAT(status(), HasSubstr("40 rows. "));
  EXPECT_THAT(status(), HasSubstr("ran on each of the 2 files: a LIMIT"));
  for (const gui::NamedQuery& query : gui::example_queries()) {
    ask(query.sql);
    const nlohmann::json printed = run_json({"query", path.string(), query.sql.toStdString()})["data"];
    const Table shown = queries().rows().model_of_rows().table();
    ASSERT_EQ(shown.rows.size(), printed.size()) << query.name.toStdString() << status();
    ASSERT_FALSE(shown.rows.empty());
    for (std::size_t c = 0; c < shown.columns.size(); ++c) {
      const Cell& cell = shown.rows[0][c];
      const nlohmann::json& value = printed[0][shown.columns[c].key];
      const auto* text = std::get_if<std::string>(&cell);
      EXPECT_EQ(value, text != nullptr ? nlohmann::json(*text) : nlohmann::json(std::get<std::int64_t>(cell)));
    }
  }
}

// Files of two ranks: the event that starts then is looked for in the one that the row is from.
TEST_F(QueryPageTest, ARowOpensInItsOwnRank) {
  open(data_file("swinscope_swin_tiny_ddp_2gpu"));
  window_.show_page(QStringLiteral("query"));
  ask(QStringLiteral("SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start LIMIT 1"));
  gui::TablePanel& rows = queries().rows();
  ASSERT_EQ(rows.model()->rowCount(), 2) << status();
  for (int row = 0; row < 2; ++row) {
    window_.show_page(QStringLiteral("query"));
    rows.setFocus();
    rows.select_row(row);
    QTest::keyClick(&rows, Qt::Key_Return);
    ASSERT_EQ(window_.page_id(), QStringLiteral("timeline"));
    ASSERT_TRUE(view().selection());
    const std::uint32_t process = view().timeline()->lanes[view().selection()->lane].key.process;
    EXPECT_EQ(QStringLiteral("rank%1.db").arg(view().timeline()->processes[process].rank), rows.text_at(row, "file"));
  }
}

TEST_F(QueryPageTest, WhatCannotBeRunIsSaidAndTheFileStays) {
  const std::filesystem::path path = folder() / "own.db";
  std::filesystem::copy_file(data_file("swinscope_swin_tiny_graph_1gpu.db"), path);
  const std::string before = read_file(path);
  open(path);
  window_.show_page(QStringLiteral("query"));
  ask(QStringLiteral("DELETE FROM StringIds"));
  EXPECT_THAT(status(), HasSubstr("only statements that read can be run"));
  ask(QStringLiteral("SELECT missing FROM StringIds"));
  EXPECT_THAT(status(), HasSubstr("no such column: missing"));
  EXPECT_THAT(status(), HasSubstr("hint: "));
  ask(QStringLiteral("SELECT 1 AS one"));
  EXPECT_THAT(status(), HasSubstr("1 row."));
  EXPECT_THAT(status(), HasSubstr("With a column called start"));
  EXPECT_THAT(status(), HasSubstr("swinscope query " + path.string()));
  EXPECT_EQ(read_file(path), before);
}

TEST_F(QueryPageTest, ALongQueryIsStoppedByEscapeAndByClosing) {
  open(data_file("swinscope_swin_tiny_graph_1gpu.db"));
  window_.show_page(QStringLiteral("query"));
  const QString endless =
      QStringLiteral("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n");
  queries().editor().setPlainText(endless);
  window_.perform(ActionId::kRunQuery);
  EXPECT_FALSE(queries().is_settled());
  EXPECT_TRUE(window_.can_perform(ActionId::kCancelQuery));
  QTest::keyClick(&queries().editor(), Qt::Key_Escape);
  settle();
  EXPECT_THAT(status(), HasSubstr("the query was stopped"));
  EXPECT_FALSE(window_.can_perform(ActionId::kCancelQuery));
  window_.perform(ActionId::kRunQuery);  // another run ends it
  open(data_file("swinscope_swin_tiny_infer_1gpu.db"));
  EXPECT_TRUE(queries().is_settled());
  window_.perform(ActionId::kRunQuery);  // and so does closing the window
}

TEST_F(QueryPageTest, QueriesAreKeptByNameAndTheLatestOnesWithout) {
  open(data_file("swinscope_swin_tiny_graph_1gpu.db"));
  window_.show_page(QStringLiteral("query"));
  ask(QStringLiteral("SELECT 42 AS answer"));
  QTest::keyClick(&queries().editor(), Qt::Key_S, Qt::ControlModifier);  // asks for the name
  auto* name = queries().findChild<QLineEdit*>(QStringLiteral("query_name"));
  EXPECT_TRUE(name->hasFocus());
  QTest::keyClicks(name, QStringLiteral("the answer"));
  QTest::keyClick(name, Qt::Key_Return);
  EXPECT_EQ(gui::SavedQueries::recent().front().sql, QStringLiteral("SELECT 42 AS answer"));
  QTreeWidget& list = queries().list().queries();
  const auto find = [&] { return list.findItems(QStringLiteral("the answer"), Qt::MatchExactly | Qt::MatchRecursive); };
  ASSERT_EQ(find().size(), 1);
  queries().editor().clear();
  list.setCurrentItem(find().front());
  EXPECT_EQ(queries().editor().toPlainText(), QStringLiteral("SELECT 42 AS answer"));
  EXPECT_TRUE(window_.can_perform(ActionId::kRemoveQuery));
  window_.perform(ActionId::kRemoveQuery);
  EXPECT_TRUE(find().isEmpty());
  EXPECT_TRUE(gui::SavedQueries::saved().empty());
}

TEST_F(QueryPageTest, TablesOfThisRunPutTheirNamesIntoTheQuery) {
  open(recording());  // of another program: converted first
  window_.show_page(QStringLiteral("query"));
  settle();
  QTreeWidget& tables = queries().list().tables();
  ASSERT_GT(tables.topLevelItemCount(), 5);
  EXPECT_EQ(tables.topLevelItem(0)->text(0).endsWith(QStringLiteral("(no rows)")), false);
  queries().editor().setPlainText(QStringLiteral("SELECT count(*) FROM "));
  queries().editor().moveCursor(QTextCursor::End);
  QTreeWidgetItem* kernels = tables.findItems(QStringLiteral("CUPTI_ACTIVITY_KIND_KERNEL"), Qt::MatchExactly).front();
  tables.setCurrentItem(kernels);
  QTest::keyClick(&tables, Qt::Key_Return);
  QTest::keyClick(&queries().editor(), Qt::Key_Return, Qt::ControlModifier);
  settle();
  EXPECT_EQ(queries().rows().text_at(0, "count(*)").toStdString(),
            std::to_string(
                window_.run()->trace->ranks[0].gpu.size() -
                static_cast<std::size_t>(std::ranges::count_if(
                    window_.run()->trace->ranks[0].gpu.kind, [](GpuKind kind) { return kind != GpuKind::kKernel; }))));
}

TEST_F(QueryPageTest, WithoutARunItSaysWhatToDo) {
  window_.show_page(QStringLiteral("query"));
  EXPECT_EQ(status(), "No run is open.");
  EXPECT_FALSE(window_.can_perform(ActionId::kRunQuery));
  open(data_file("swinscope_swin_large_weak_2gpu"));
  window_.show_page(QStringLiteral("query"));
  EXPECT_THAT(status(), HasSubstr("Open a run of the experiment"));
}

}  // namespace
}  // namespace swinscope::tests
