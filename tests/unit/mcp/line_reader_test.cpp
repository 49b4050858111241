// Lines of bounded length, whatever pieces they come in.
#include "mcp/line_reader.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace swinscope::mcp {
namespace {

// "<too long>" for those that are.
std::vector<std::string> lines_of(const std::string& text, std::size_t piece, std::size_t longest) {
  std::size_t at = 0;
  LineReader reader(
      [&](char* into, std::size_t size) {
        const std::size_t count = std::min({size, piece, text.size() - at});
        text.copy(into, count, at);
        at += count;
        return count;
      },
      longest);
  std::vector<std::string> lines;
  while (const std::optional<Line> line = reader.next())
    lines.push_back(line->is_too_long ? "<too long>" : line->text);
  return lines;
}

TEST(LineReader, GivesLinesWhateverThePieces) {
  for (const std::size_t piece : std::vector<std::size_t>{1, 2, 3, 7, 100}) {
    EXPECT_THAT(lines_of("one\n\nthree\r\nlast", piece, 10), testing::ElementsAre("one", "", "three\r", "last"))
        << piece;
    EXPECT_THAT(lines_of("", piece, 10), testing::IsEmpty());
    EXPECT_THAT(lines_of("\n", piece, 10), testing::ElementsAre(""));
  }
}

TEST(LineReader, SkipsWhatIsTooLongAndGoesOn) {
  for (const std::size_t piece : std::vector<std::size_t>{1, 4, 100})
    EXPECT_THAT(lines_of("12345\n123456\n1234567890123\nab\n1234567", piece, 5),
                testing::ElementsAre("12345", "<too long>", "<too long>", "ab", "<too long>"));
}

}  // namespace
}  // namespace swinscope::mcp
