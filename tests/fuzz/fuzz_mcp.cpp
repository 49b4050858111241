// Whatever comes on the standard input of `swinscope mcp`, each line has at most one answer, which is JSON-RPC: a
// result or an error. Reads only, in a folder without runs.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>

#include "mcp/line_reader.h"
#include "mcp/server.h"
#include "store/utf8.h"
#include "tests/fuzz/memory_file.h"

namespace swinscope::fuzz {
namespace {

constexpr std::size_t kLongest = 4096;  // short, so that inputs reach beyond it

void check_one(const mcp::Json& answer) {
  expect(answer.is_object() && answer.value("jsonrpc", "") == "2.0" && answer.contains("id"), "an answer is JSON-RPC",
         answer.dump());
  expect(answer.contains("result") != answer.contains("error"), "it has a result or an error", answer.dump());
}

void check_answer(const std::string& text) {
  expect(is_valid_utf8(text) && text.find('\n') == std::string::npos, "an answer is one line of UTF-8", text);
  const mcp::Json answer = mcp::Json::parse(text, nullptr, false);
  if (!answer.is_array()) return check_one(answer);
  for (const mcp::Json& each : answer)
    check_one(each);
}

const std::filesystem::path& empty_folder() {
  static const std::filesystem::path folder = [] {
    std::string name = (std::filesystem::temp_directory_path() / "fuzz_mcp_XXXXXX").string();
    expect(mkdtemp(name.data()) != nullptr, "a folder can be made");
    return std::filesystem::path(name);
  }();
  return folder;
}

}  // namespace
}  // namespace swinscope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace swinscope;
  static const std::vector<mcp::Tool> tools = mcp::tools_below(fuzz::empty_folder());
  mcp::Server server(tools, "0");
  std::size_t at = 0;
  // In pieces of varying length, as pipes give them.
  mcp::LineReader lines(
      [&](char* into, std::size_t room) {
        const std::size_t count = std::min({room, size - at, std::size_t{1} + at % 97});
        if (count > 0) std::memcpy(into, data + at, count);
        at += count;
        return count;
      },
      fuzz::kLongest);
  while (const std::optional<mcp::Line> line = lines.next()) {
    fuzz::expect(line->text.size() <= fuzz::kLongest && line->text.find('\n') == std::string::npos, "a line is one");
    if (line->is_too_long) fuzz::check_answer(mcp::Server::too_long());
    if (const auto answer = server.answer(line->text)) fuzz::check_answer(*answer);
  }
  fuzz::expect(at == size, "all is read");
  return 0;
}
