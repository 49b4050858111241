// Tables for LaTeX: what has a meaning there is escaped, and a document takes them as they are.
#include "analyzer/table/latex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace swinscope {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Latex, TextIsPrintedAsItStands) {
  EXPECT_EQ(escape_latex("gemm_128x64 & 50 % of $x#1"), "gemm\\_128x64 \\& 50 \\% of \\$x\\#1");
  EXPECT_EQ(escape_latex("f<T>(a|b) {\\~^\"}"),
            "f\\textless{}T\\textgreater{}(a\\textbar{}b) "
            "\\{\\textbackslash{}\\textasciitilde{}\\textasciicircum{}\\textquotedbl{}\\}");
  EXPECT_EQ(escape_latex("12 µs ± 1 → 3×"), "12 \\textmu{}s \\textpm{} 1 \\textrightarrow{} 3\\texttimes{}");
  EXPECT_EQ(escape_latex("a\nb\x1b[31m").find_first_of("\n\x1b"), std::string::npos);
}

TEST(Latex, NumbersStandToTheRightAndDetailsAreLeftOut) {
  const Table table{"kernels",
                    "Kernels\nby time",
                    {{"name", "name"}, {"id", "id", Unit::kCount, true}, {"total_ns", "total", Unit::kDuration}},
                    {{std::string("a_b"), std::int64_t{7}, std::int64_t{1'500}}, {std::string("[2]"), {}, {}}},
                    "Time of all calls, in % of nothing."};
  EXPECT_EQ(latex_table(table),
            "% Kernels by time. Time of all calls, in % of nothing.\n"
            "% \\usepackage{booktabs}\n"
            "\\begin{tabular}{lr}\n"
            "\\toprule\n"
            "name & total \\\\\n"
            "\\midrule\n"
            "a\\_b & 1.500 us \\\\\n"
            "{}[2] & - \\\\\n"
            "\\bottomrule\n"
            "\\end{tabular}\n");
}

TEST(Latex, MoreRowsThanAPageHoldsAreALongTable) {
  Table table{"t", "T", {{"n", "n", Unit::kCount}}, {}};
  table.rows.assign(40, {std::int64_t{1}});
  EXPECT_THAT(latex_table(table), Not(HasSubstr("longtable")));
  table.rows.emplace_back(1, std::int64_t{1});
  const std::string latex = latex_table(table);
  EXPECT_THAT(latex, HasSubstr("\\begin{longtable}{r}"));
  EXPECT_THAT(latex, HasSubstr("\\midrule\n\\endhead\n"));
  EXPECT_THAT(latex, HasSubstr("\\end{longtable}"));
}

}  // namespace
}  // namespace swinscope
