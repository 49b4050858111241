// KinetoEventParser on one event, and parse_microseconds on its first line.
#include <cmath>

#include "analyzer/importers/kineto_event.h"
#include "tests/fuzz/support.h"

namespace swinscope::fuzz {
namespace {

// Against the C library, which reads the same notation (and some more) inexactly.
void check_time(std::string_view text) {
  const auto ns = parse_microseconds(text);
  if (!ns) return;
  const std::string copy(text);
  char* end = nullptr;
  const long double expected = std::strtold(copy.c_str(), &end) * 1000;
  expect(end == copy.c_str() + copy.size(), "what is taken is a number", text);
  const long double tolerance = 0.5L + std::fabs(expected) * 1e-18L;
  expect(std::fabs(static_cast<long double>(*ns) - expected) <= tolerance, "the value is the nearest nanosecond", text);
}

void check_event(const KinetoEvent& event) {
  for (const std::string_view text :
       {event.phase, event.category, event.name, event.label, event.input_dims, event.input_types, event.collective,
        event.dtype, event.group_name, event.group_ranks}) {
    expect(is_valid_utf8(text), "texts are UTF-8", text);
  }
  for (const Dim3& dim : {event.grid, event.block})
    expect(dim.x >= 0 && dim.y >= 0 && dim.z >= 0, "dimensions are sizes");
  constexpr std::int64_t kLimit = std::int64_t{1} << 61;
  for (const auto& time : {event.ts_ns, event.dur_ns})
    expect(!time || (*time >= -kLimit && *time <= kLimit), "times are in range");
}

}  // namespace
}  // namespace swinscope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace swinscope::fuzz;
  using swinscope::KinetoEventParser;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_time(bytes.substr(0, bytes.find('\n')));

  KinetoEventParser parser;
  std::string text(bytes);
  text.append(KinetoEventParser::padding(), ' ');
  const auto* event = parser.parse(std::string_view(text).substr(0, size));
  if (event != nullptr) {
    check_event(*event);
  } else {
    expect(!parser.error().empty(), "a refusal has a reason");
  }
  // Nothing of it stays behind.
  text.assign("{}").append(KinetoEventParser::padding(), ' ');
  event = parser.parse(std::string_view(text).substr(0, 2));
  expect(event != nullptr && event->name.empty() && !event->ts_ns, "the next event is parsed as if it were the first");
  return 0;
}
