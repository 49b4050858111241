// Writes the JSON of Chrome's trace event format ("Trace Event Format", google/trace-viewer), one event after the
// other. https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
//
// Times are microseconds with three decimals, exact to the nanosecond. Text is UTF-8: bytes that are none become
// U+FFFD, control characters and the separators U+2028 and U+2029 are escaped.
#pragma once

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "analyzer/export/output.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

// A quoted JSON string.
std::string json_quoted(std::string_view text);

// "12.345" for 12345 ns, "-0.001" for -1.
void append_microseconds(std::string& out, std::int64_t ns);

// Texts of a trace, the frequent ones quoted once. What is returned is valid until the next call.
class QuotedTexts {
 public:
  explicit QuotedTexts(const Trace& trace) : trace_(trace) {}
  const std::string& operator()(StringId id);

 private:
  const Trace& trace_;
  std::unordered_map<StringId, std::string> quoted_;
};

// Where an event stands.
struct EventPlace {
  std::int64_t pid = 0;
  std::int64_t tid = 0;
};

// An event is begun, given arguments, and ended. Keys are plain ASCII literals.
class EventWriter {
 public:
  explicit EventWriter(ExportOutput& output) : output_(output) {}

  // `name` is quoted JSON; so are the values below whose name says so.
  void begin(char phase, EventPlace place, std::string_view quoted_name, std::string_view category = {});
  void time(std::int64_t ts_ns);
  void duration(std::int64_t ns);
  // A further field of the event itself, as JSON.
  void field(std::string_view key, std::string_view json);

  template <typename Number>
  void argument(std::string_view key, Number value) {
    key_of(key);
    fmt::format_to(std::back_inserter(buffer_), "{}", value);
  }
  void argument_json(std::string_view key, std::string_view json);
  void argument_text(std::string_view key, std::string_view text);
  // Under a key that may be any text.
  void argument_value(std::string_view any_key, double value);
  void argument_dim(std::string_view key, const Dim3& dim);
  void end();

  // A metadata event: "process_name" and the like.
  void name(std::string_view what, EventPlace place, std::string_view text);
  void sort_index(std::string_view what, EventPlace place, std::int64_t index);

  // Text between the events.
  void raw(std::string_view text);
  // Hands over what is still in the buffer.
  void flush();
  std::int64_t events() const { return events_; }

 private:
  void key_of(std::string_view key);

  ExportOutput& output_;
  std::string buffer_;
  std::int64_t events_ = 0;
  bool in_arguments_ = false;
};

}  // namespace swinscope
