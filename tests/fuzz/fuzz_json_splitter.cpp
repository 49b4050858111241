// JsonSplitter: a document fed in pieces of any sizes is split as when it is fed whole.
#include <vector>

#include "analyzer/importers/json_splitter.h"
#include "tests/fuzz/support.h"

namespace swinscope::fuzz {
namespace {

struct Split {
  std::vector<std::string> events;
  std::string skeleton;
  std::string refusal;
  bool found = false;
  bool complete = false;
  bool unfinished = false;
  std::int64_t odd = 0;
  std::int64_t lost = 0;
  std::uint64_t behind = 0;
  std::size_t documents = 1;
  bool operator==(const Split&) const = default;
};

// Sizes of the pieces are taken from `sizes`, round and round.
Split split(std::string_view document, std::string_view sizes) {
  Split result;
  JsonSplitter splitter([&](std::string_view event) { result.events.emplace_back(event); },
                        [&](const JsonDocument&) { ++result.documents; });
  try {
    for (std::size_t at = 0, turn = 0; at < document.size(); ++turn) {
      const std::size_t size =
          sizes.empty() ? document.size() : 1U + static_cast<unsigned char>(sizes[turn % sizes.size()]);
      splitter.feed(document.substr(at, size));
      at += size;
    }
    splitter.finish();
  } catch (const Error& error) {
    expect_input_error(error);
    result.refusal = error.what();
  }
  result.skeleton = splitter.document().skeleton;
  result.found = splitter.document().found_events;
  result.complete = splitter.document().complete;
  result.unfinished = splitter.unfinished_bytes() > 0;
  result.odd = splitter.document().odd_elements;
  result.lost = splitter.document().lost_events;
  result.behind = splitter.document().bytes_behind;
  return result;
}

}  // namespace
}  // namespace swinscope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace swinscope::fuzz;
  // The first line gives the sizes of the pieces, the rest is the document.
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t line = bytes.find('\n');
  if (line == std::string_view::npos) return 0;
  const std::string_view document = bytes.substr(line + 1);
  const Split whole = split(document, {});
  expect(split(document, bytes.substr(0, line)) == whole, "pieces of other sizes give the same events");
  expect(split(document, std::string_view("\0", 1)) == whole, "single bytes give the same events");
  std::size_t length = 0;
  for (const std::string& event : whole.events) {
    expect(event.size() >= 2 && event.front() == '{' && event.back() == '}', "an event stands in braces", event);
    length += event.size();
  }
  expect(length + whole.skeleton.size() <= document.size() + 1, "nothing is delivered twice");
  return 0;
}
