// Each analysis says what its figures are, in the same words wherever its table stands.
#include "analyzer/report/registry.h"

#include <regex>
#include <set>

#include <gmock/gmock.h>

#include "analyzer/base/text.h"
#include "analyzer/importers/open.h"
#include "analyzer/report/analysis_documents.h"
#include "analyzer/report/report.h"
#include "analyzer/table/svg.h"
#include "tests/unit/store/support.h"

namespace swinscope {
namespace {

using testing::HasSubstr;

std::filesystem::path source(const char* path) { return std::filesystem::path(SWINSCOPE_SOURCE_DIR) / path; }

std::vector<std::string> matches(std::string_view text, const char* expression) {
  const std::string all(text);
  const std::regex pattern(expression);
  std::vector<std::string> found;
  for (std::sregex_iterator it(all.begin(), all.end(), pattern); it != std::sregex_iterator(); ++it)
    found.push_back(it->str());
  return found;
}

TEST(Registry, DefinitionsAreSentencesWithoutUnexplainedAbbreviations) {
  const std::string glossary = test::read_file(source("docs/glossary.md"));
  std::set<std::string_view> definitions;
  for (const Analysis& analysis : analyses()) {
    const std::string_view text = analysis.definition;
    EXPECT_TRUE(text.ends_with('.')) << analysis.key << ": " << text;
    EXPECT_TRUE(definitions.insert(text).second) << analysis.key;
    EXPECT_LE(matches(text, R"(\.( |$))").size(), 2U) << analysis.key << ": one or two sentences";
    for (const std::string& key : matches(text, "[A-Za-z0-9]+_[A-Za-z0-9_]+"))
      EXPECT_THAT(text, HasSubstr(key + " = ")) << analysis.key << ": " << key << " is not explained";
    for (const std::string& word : matches(text, "[A-Z][A-Z0-9]+s?"))
      EXPECT_THAT(glossary, HasSubstr(word)) << analysis.key << ": the glossary does not know " << word;
  }
}

TEST(Registry, ThePageOfFiguresListsThem) {
  const std::string page = test::read_file(source("docs/metrics.md"));
  std::string rows;
  for (const Analysis& analysis : analyses()) {
    rows += "| " + std::string(analysis.title) + " | `" + std::string(analysis.key) + "` | " +
            std::string(analysis.definition);
    rows += " |\n";
  }
  EXPECT_THAT(page, HasSubstr("\n## Tables\n"));
  EXPECT_TRUE(page.ends_with("|---|---|---|\n" + rows)) << "the rows of docs/metrics.md, \"Tables\", are to be\n"
                                                        << rows;
}

class RecordingTest : public testing::Test {
 protected:
  const Trace trace_ = open_trace(source("data/swinscope_swin_tiny_ddp_2gpu"));
  const RunFacts run_{trace_, {}};
};

TEST_F(RecordingTest, TablesHaveTheKeyAndTheDefinitionOfTheirAnalysis) {
  for (const Analysis& analysis : analyses()) {
    const Table table = table_of(analysis, run_, {});
    EXPECT_EQ(table.key, analysis.key);
    EXPECT_EQ(table.definition, analysis.definition);
    EXPECT_EQ(defined({table.key, {}, {}, {}}).definition, analysis.definition);
  }
  EXPECT_EQ(defined({"no analysis", {}, {}, {}}).definition, "");
}

// HTML, Markdown and JSON; tests/integration/gui/pages_test.cpp holds the window to the same.
TEST_F(RecordingTest, ReportsAndJsonSayTheSame) {
  std::vector<ReportPart> parts = {report_part(trace_, trace_.path, {})};
  std::vector<Table> tables = parts.front().document.tables;
  std::string json = render(parts.front().document, {Format::kJson});
  const Document info = info_document(trace_, true);
  tables.insert(tables.end(), parts.front().details.begin(), parts.front().details.end());
  const Report report = build_report(parts);
  const std::string html = render_html(report);
  const std::string markdown = render_markdown_report(report, "figures").text;
  int told = 0;
  for (const Table& table : tables) {
    if (table.rows.empty()) continue;
    ++told;
    const std::string title = escape_markup(table.title);
    if (table.key == "layers") {  // as a whole: to be unfolded
      const std::string rows = ": " + format_counted(std::ssize(table.rows), "rows") + "</summary>\n";
      EXPECT_THAT(html, HasSubstr("<summary>" + title + rows + "<p class=\"definition\">" +
                                  escape_markup(table.definition) + "</p>\n<div"));
      EXPECT_THAT(markdown, HasSubstr("<summary>" + title + rows + "\n" + escape_markdown(table.definition) + "\n\n|"));
      continue;
    }
    EXPECT_THAT(html, HasSubstr("<h3>" + title + "</h3>\n<p class=\"definition\">" + escape_markup(table.definition) +
                                "</p>\n<div"));
    EXPECT_THAT(markdown, HasSubstr("### " + escape_markdown(table.title) + "\n\n" + escape_markdown(table.definition) +
                                    "\n\n|"));
  }
  EXPECT_GT(told, 10);
  for (const Table& table : parts.front().document.tables)
    EXPECT_THAT(json, HasSubstr("\"" + table.key + "\": \"" + table.definition + "\""));
  json = render(info, {Format::kJson});
  for (const Table& table : info.tables)
    EXPECT_THAT(json, HasSubstr("\"" + table.key + "\": \"" + table.definition + "\""));
}

}  // namespace
}  // namespace swinscope
