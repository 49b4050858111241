// Pages are rows of a list, and tables those of the registry: whatever is in either can be reached and says the same.
#include <QClipboard>
#include <QComboBox>
#include <QKeySequence>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QTabBar>
#include <QTreeView>
#include <QTreeWidget>
#include <algorithm>
#include <map>
#include <regex>
#include <sstream>

#include <gmock/gmock.h>

#include "advisor/advice_columns.h"
#include "analyzer/report/registry.h"
#include "analyzer/table/render.h"
#include "gui/widgets/calls_panel.h"
#include "gui/widgets/command_palette.h"
#include "gui/widgets/table_title.h"
#include "tests/integration/gui/support.h"

namespace swinscope::tests {
namespace {

using gui::ActionId;
using testing::HasSubstr;

std::filesystem::path data_file(const char* name) {
  return std::filesystem::path(SWINSCOPE_SOURCE_DIR) / "data" / name;
}

QString qt_text(std::string_view text) { return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())); }

// Of a manual page, from its heading to the next.
std::string section_of(const std::string& page, const std::string& name) {
  const std::size_t begin = page.find(".SH " + name + "\n");
  return begin == std::string::npos ? "" : page.substr(begin, page.find(".SH ", begin + 1) - begin);
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

// "- **Overview**" of each line that begins so.
std::string bold_items(const std::string& page) {
  static const std::regex item(R"(^- \*\*[^*]+\*\*)");
  std::string items;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_search(line, match, item)) items += match.str() + "\n";
  }
  return items;
}

class PagesTest : public WindowTest {
 protected:
  // As a user does: by the list of the page of tables.
  void choose(const Analysis& analysis) {
    auto* list = tables().findChild<QTreeWidget*>(QStringLiteral("analyses"));
    for (QTreeWidgetItem* item : list->findItems(qt_text(analysis.title), Qt::MatchExactly | Qt::MatchRecursive)) {
      if (item->parent() == nullptr || item->parent()->text(0) != qt_text(section_title(analysis.section))) continue;
      list->setCurrentItem(item);
      return settle();
    }
    FAIL() << analysis.key << " is not in the list";
  }
  static std::string gui_program() {
    return (std::filesystem::path(command({}).front()).parent_path() / "swinscope-gui").string();
  }
  // Rows and columns, cell by cell, as the terminal prints them.
  void expect_shown(const Table& expected) {
    EXPECT_EQ(tables().title().text().toStdString(), expected.title);
    expect_described(tables().title(), tables().table(), expected.definition);
    const QAbstractItemModel& shown = tables().table().model_of_rows();
    ASSERT_EQ(shown.rowCount(), static_cast<int>(expected.rows.size())) << expected.key;
    int column = 0;
    for (std::size_t i = 0; i < expected.columns.size(); ++i) {
      if (expected.columns[i].detail) continue;
      EXPECT_EQ(shown.headerData(column, Qt::Horizontal).toString().toStdString(), expected.columns[i].title);
      for (int row = 0; row < shown.rowCount(); ++row) {
        EXPECT_EQ(shown.index(row, column).data().toString().toStdString(),
                  format_cell(expected.rows[static_cast<std::size_t>(row)][i], expected.columns[i].unit))
            << expected.key << "." << expected.columns[i].key;
      }
      ++column;
    }
    EXPECT_EQ(shown.columnCount(), column) << expected.key;
  }
};

// A key of the window works everywhere; one of the timeline or of a query's text may mean something else elsewhere.
TEST_F(PagesTest, NoKeyMeansTwoThings) {
  struct Use {
    std::string name;
    gui::ActionContext context;
  };
  std::map<QString, std::vector<Use>> uses;
  const auto add = [&](const char* shortcuts, const char* name, gui::ActionContext context) {
    for (const QKeySequence& key : gui::shortcuts_of(shortcuts))
      uses[key.toString()].push_back({name, context});
  };
  for (const gui::PageInfo& info : gui::all_pages())
    add(info.shortcuts, info.id, gui::ActionContext::kWindow);
  for (const gui::ActionInfo& info : gui::all_actions())
    add(info.shortcuts, info.name, info.context);
  EXPECT_GT(uses.size(), gui::all_pages().size());
  for (const auto& [key, meanings] : uses) {
    for (std::size_t i = 1; i < meanings.size(); ++i) {
      const Use& one = meanings[i - 1];
      const Use& other = meanings[i];
      const bool is_everywhere =
          one.context == gui::ActionContext::kWindow || other.context == gui::ActionContext::kWindow;
      EXPECT_FALSE(is_everywhere || one.context == other.context)
          << key.toStdString() << ": " << one.name << " and " << other.name;
    }
  }
}

TEST_F(PagesTest, ARowIsAPageWithTabActionMenuPaletteAndHelp) {
  const std::vector<gui::Command> commands = gui::commands_of(*window_.menuBar());
  window_.perform(ActionId::kHelp);
  const auto* help = window_.findChild<gui::HelpDialog*>()->findChild<QTreeWidget*>();
  const auto* tabs = window_.findChild<QTabBar*>(QStringLiteral("pages"));
  EXPECT_EQ(static_cast<std::size_t>(tabs->count()), gui::all_pages().size());
  std::set<std::string> ids;
  for (const gui::PageInfo& info : gui::all_pages()) {
    const QString title = gui::plain_text(QString::fromUtf8(info.title));
    EXPECT_TRUE(ids.insert(info.id).second) << info.id;
    EXPECT_EQ(tabs->tabText(gui::find_page(QString::fromUtf8(info.id))), title);
    const auto command = std::ranges::find_if(commands, [&](const gui::Command& c) {
      return c.menu == QLatin1String("View") && c.action->objectName() == QStringLiteral("view.%1").arg(info.id);
    });
    ASSERT_NE(command, commands.end()) << info.id;
    EXPECT_FALSE(command->action->shortcuts().isEmpty()) << info.id;
    const QList<QTreeWidgetItem*> lines = help->findItems(title, Qt::MatchExactly);
    ASSERT_FALSE(lines.isEmpty()) << info.id;
    EXPECT_EQ(lines.front()->text(2), QString::fromUtf8(info.help));
    command->action->trigger();
    EXPECT_EQ(window_.page_id(), QString::fromUtf8(info.id));
    EXPECT_THAT(window_.breadcrumbs().toStdString(), HasSubstr(title.toStdString()));
  }
}

TEST_F(PagesTest, EachHasAPictureByItsName) {
  const std::string gui = gui_program();
  const std::string help = run_program({gui, "--help"}, options_).out;
  for (const gui::PageInfo& info : gui::all_pages()) {
    EXPECT_THAT(help, HasSubstr(info.id));
    const std::string file = std::string(info.id) + ".png";
    const ProgramResult result = run_program({gui, "--page", info.id, "--screenshot", file}, options_);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_TRUE(std::filesystem::exists(folder() / file)) << file;
  }
  EXPECT_EQ(run_program({gui, "--page", "none"}, options_).status, 2);
}

// Man page and guide name the pages in the words of the list.
TEST_F(PagesTest, DocumentsAndTheListSayTheSame) {
  const auto document = [](const char* path) { return read_file(std::filesystem::path(SWINSCOPE_SOURCE_DIR) / path); };
  const std::string page = document("docs/man/swinscope-gui.1");
  const std::string manual = section_of(page, "PAGES");
  std::size_t manual_end = 0;
  std::string printed;
  std::string ids;
  std::string guide;
  const std::size_t count = gui::all_pages().size();
  for (std::size_t i = 0; i < count; ++i) {
    const gui::PageInfo& info = gui::all_pages()[i];
    printed += std::string(info.id) + "\t" + info.help + "\n";
    ids += std::string(i == 0 ? "" : i + 1 == count ? " or " : ", ") + info.id;
    const std::string entry = std::string("\n.TP\n.BR ") + info.id + " \" (" + info.shortcuts + ")\"\n" + info.help;
    manual_end = manual.find(entry, manual_end);
    EXPECT_NE(manual_end, std::string::npos) << "the manual page needs, in this order:" << entry;
    guide += "- **" + gui::plain_text(QString::fromUtf8(info.title)).toStdString() + "**\n";
  }
  EXPECT_EQ(run_program({gui_program(), "--list-pages"}, options_).out, printed);
  EXPECT_THAT(page, HasSubstr("Start with this page: " + ids + ".\n"));
  EXPECT_EQ(occurrences(manual, "\n.TP\n"), count) << "no other pages";
  EXPECT_EQ(bold_items(document("docs/gui.md")), guide);
}

TEST_F(PagesTest, EveryAnalysisOfTheRegistryIsATable) {
  for (const char* name : {"swinscope_swin_tiny_infer_1gpu.db", "swinscope_swin_tiny_ddp_2gpu"}) {
    open(data_file(name));
    ASSERT_NE(window_.run(), nullptr) << banner();
    window_.show_page(QStringLiteral("tables"));
    const RunFacts run(*window_.run()->trace, {});
    int with_rows = 0;
    for (const Analysis& analysis : analyses()) {
      choose(analysis);
      Table expected = table_of(analysis, run, {});
      add_advice_columns(expected, run, advisor_if_quick(run).get());
      expect_shown(expected);
      EXPECT_EQ(tables().message().isEmpty(), !expected.rows.empty()) << analysis.key;
      EXPECT_EQ(window_.can_perform(ActionId::kExportTable), !expected.rows.empty()) << analysis.key;
      with_rows += expected.rows.empty() ? 0 : 1;
    }
    EXPECT_GT(with_rows, 12);
  }
}

TEST_F(PagesTest, TheOverviewHasTheTablesThatTheRegistryPutsThere) {
  open(data_file("swinscope_swin_tiny_ddp_2gpu"));
  const RunFacts run(*window_.run()->trace, {});
  std::vector<std::string> expected;
  std::vector<std::string> shown;
  const Table kernels = *std::ranges::find(window_.run()->analyzed.document.tables, "kernels", &Table::key);
  expected.push_back(kernels.title + ": " + kernels.definition);
  for (const AnalysisSection section : kAnalysisSections) {
    for (const Analysis& analysis : analyses()) {
      if (analysis.section != section || analysis.use != AnalysisUse::kOverview) continue;
      const Table table = table_of(analysis, run, {});
      const bool is_elsewhere = table.key == "bounds" || table.key == "kernels";  // a bar, and above
      if (table.rows.size() > 1 && !is_elsewhere) expected.push_back(table.title + ": " + table.definition);
    }
  }
  ASSERT_EQ(overview().tables().size(), overview().table_titles().size());
  for (std::size_t i = 0; i < overview().tables().size(); ++i) {
    const gui::TableTitle& title = *overview().table_titles()[i];
    const std::string definition = title.accessibleDescription().toStdString();
    expect_described(title, *overview().tables()[i], definition);
    shown.push_back(title.text().toStdString() + ": " + definition);
  }
  EXPECT_GT(shown.size(), 5U);
  EXPECT_EQ(shown, expected);
}

TEST_F(PagesTest, TheFilterChoosesTheScopeOfEveryTable) {
  open(data_file("swinscope_swin_tiny_ddp_2gpu"));
  gui::Filter filter;
  filter.rank = 1;
  filter.whole_trace = true;
  window_.filter().set_filter(filter);
  window_.show_page(QStringLiteral("tables"));
  const RunFacts run(*window_.run()->trace, filter.selection());
  for (const Analysis& analysis : analyses()) {
    choose(analysis);
    Table expected = table_of(analysis, run, {});
    add_advice_columns(expected, run, nullptr);  // no steps, no advice
    expect_shown(expected);
  }
}

TEST_F(PagesTest, AnExportedTableIsWhatTheCommandPrints) {
  const std::filesystem::path path = data_file("swinscope_swin_tiny_infer_1gpu.db");
  open(path);
  const auto exported = [&](gui::TablePage& page) {
    window_.show_page(page.objectName());
    settle();
    EXPECT_TRUE(page.export_table(qt(folder() / "table.csv"))) << banner();
    return read_file(folder() / "table.csv");
  };
  const auto printed = [&](const char* command) { return run({command, path.string(), "--format", "csv"}).out; };
  EXPECT_EQ(exported(kernels()), printed("kernels"));
  window_.show_page(QStringLiteral("tables"));
  choose(*std::ranges::find(analyses(), "launches", &Analysis::key));
  EXPECT_EQ(exported(tables()), printed("launches"));
  choose(*std::ranges::find(analyses(), "layers", &Analysis::key));
  const std::string table = exported(tables());
  EXPECT_EQ(exported(layers()), table);
  EXPECT_THAT(printed("layers"), HasSubstr(table));
  EXPECT_FALSE(tables().export_table(qt(folder() / "table.pdf")));
  EXPECT_THAT(banner(), HasSubstr("give a name that ends in .md, .csv or .json"));
}

TEST_F(PagesTest, RowsAreFoundSortedCopiedAndExported) {
  open(data_file("swinscope_swin_tiny_infer_1gpu.db"));
  window_.show_page(QStringLiteral("tables"));
  choose(*std::ranges::find(analyses(), "kernels", &Analysis::key));
  gui::TablePanel& table = tables().table();
  const int all = table.model()->rowCount();
  auto* find = tables().findChild<QLineEdit*>(QStringLiteral("find_rows"));
  QTest::keyClicks(find, QStringLiteral("gemm"));  // in any column: here the operation
  const int found = table.model()->rowCount();
  EXPECT_LT(found, all);
  ASSERT_GT(found, 1);
  table.sortByColumn(0, Qt::AscendingOrder);
  QStringList names;
  for (int row = 0; row < found; ++row)
    names << table.model()->index(row, 0).data().toString();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  const Table shown = table.shown_table();
  ASSERT_EQ(shown.rows.size(), static_cast<std::size_t>(found));
  EXPECT_EQ(std::get<std::string>(shown.rows.front().front()), names.front().toStdString());

  table.selectRow(0);
  QTest::keyClick(&table, Qt::Key_C, Qt::ControlModifier);
  EXPECT_EQ(QGuiApplication::clipboard()->text().section(QLatin1Char('\n'), 1).section(QLatin1Char('\t'), 0, 0),
            names.front());
  choose(*std::ranges::find(analyses(), "environment", &Analysis::key));
  EXPECT_EQ(find->text(), QString());
}

// The calls of a row, on any page whose rows stand for calls.
TEST_F(PagesTest, CallsOpenInTheTimelineByTheirKey) {
  open(data_file("swinscope_swin_tiny_infer_1gpu.db"));
  window_.show_page(QStringLiteral("tables"));
  for (const char* key : {"kernels", "layers"}) {
    window_.show_page(QStringLiteral("tables"));
    choose(*std::ranges::find(analyses(), key, &Analysis::key));
    EXPECT_TRUE(tables().calls().isVisible());
    EXPECT_FALSE(tables().calls().calls().empty()) << key;
    QTest::keyClick(&tables().table(), Qt::Key_N);
    EXPECT_EQ(window_.page_id(), QStringLiteral("timeline")) << key;
  }
  window_.show_page(QStringLiteral("layers"));
  settle();
  QTest::keyClick(&layers().tree(), Qt::Key_N);
  EXPECT_EQ(window_.page_id(), QStringLiteral("timeline"));
  window_.show_page(QStringLiteral("tables"));
  choose(*std::ranges::find(analyses(), "ranks", &Analysis::key));
  EXPECT_FALSE(tables().calls().isVisible());
  EXPECT_FALSE(window_.can_perform(ActionId::kNextOccurrence));
}

}  // namespace
}  // namespace swinscope::tests
