#include "analyzer/export/event_writer.h"

#include <array>

#include "store/utf8.h"

namespace swinscope {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 18;

// U+2028 and U+2029 end a line in JavaScript, which viewers are written in.
bool is_separator(std::string_view text, std::size_t at) {
  return text.substr(at, 2) == "\xE2\x80" && at + 2 < text.size() && (text[at + 2] == '\xA8' || text[at + 2] == '\xA9');
}

void append_escaped(std::string& out, std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<int>(c));
    } else if (is_separator(text, i)) {
      out += text[i + 2] == '\xA8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += c;
    }
  }
}

}  // namespace

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  if (is_valid_utf8(text)) {
    append_escaped(out, text);
  } else {
    append_escaped(out, replace_invalid_utf8(text));
  }
  return out + '"';
}

void append_microseconds(std::string& out, std::int64_t ns) {
  // The magnitude of the smallest number fits in an unsigned one only.
  const auto magnitude = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  if (ns < 0) out += '-';
  const fmt::format_int whole(magnitude / 1000);
  out.append(whole.data(), whole.size());
  const auto rest = static_cast<unsigned>(magnitude % 1000);
  const std::array<char, 4> decimals = {'.', static_cast<char>('0' + rest / 100),
                                        static_cast<char>('0' + rest / 10 % 10), static_cast<char>('0' + rest % 10)};
  out.append(decimals.data(), decimals.size());
}

const std::string& QuotedTexts::operator()(StringId id) {
  // A program may name millions of ranges differently.
  constexpr std::size_t kMost = 100'000;
  if (quoted_.size() >= kMost) quoted_.clear();
  const auto [entry, is_new] = quoted_.try_emplace(id);
  if (is_new) entry->second = json_quoted(trace_.text(id));
  return entry->second;
}

void EventWriter::begin(char phase, EventPlace place, std::string_view quoted_name, std::string_view category) {
  fmt::format_to(std::back_inserter(buffer_), R"({}{{"ph": "{}", "pid": {}, "tid": {}, "name": {})",
                 events_ == 0 ? "" : ",\n", phase, place.pid, place.tid, quoted_name);
  if (!category.empty()) fmt::format_to(std::back_inserter(buffer_), R"(, "cat": "{}")", category);
  ++events_;
}

void EventWriter::time(std::int64_t ts_ns) {
  buffer_ += R"(, "ts": )";
  append_microseconds(buffer_, ts_ns);
}

void EventWriter::duration(std::int64_t ns) {
  buffer_ += R"(, "dur": )";
  append_microseconds(buffer_, ns);
}

void EventWriter::field(std::string_view key, std::string_view json) {
  fmt::format_to(std::back_inserter(buffer_), R"(, "{}": {})", key, json);
}

void EventWriter::key_of(std::string_view key) {
  buffer_ += in_arguments_ ? R"(, ")" : R"(, "args": {")";
  in_arguments_ = true;
  buffer_ += key;
  buffer_ += "\": ";
}

void EventWriter::argument_json(std::string_view key, std::string_view json) {
  key_of(key);
  buffer_ += json;
}

void EventWriter::argument_text(std::string_view key, std::string_view text) { argument_json(key, json_quoted(text)); }

void EventWriter::argument_value(std::string_view any_key, double value) {
  const std::string key = json_quoted(any_key);
  argument(std::string_view(key).substr(1, key.size() - 2), value);
}

void EventWriter::argument_dim(std::string_view key, const Dim3& dim) {
  key_of(key);
  fmt::format_to(std::back_inserter(buffer_), "[{}, {}, {}]", dim.x, dim.y, dim.z);
}

void EventWriter::end() {
  buffer_ += in_arguments_ ? "}}" : "}";
  in_arguments_ = false;
  if (buffer_.size() >= kBufferBytes) flush();
}

void EventWriter::name(std::string_view what, EventPlace place, std::string_view text) {
  begin('M', place, json_quoted(what));
  argument_text(what == "process_labels" ? "labels" : "name", text);
  end();
}

void EventWriter::sort_index(std::string_view what, EventPlace place, std::int64_t index) {
  begin('M', place, json_quoted(what));
  argument("sort_index", index);
  end();
}

void EventWriter::raw(std::string_view text) { buffer_ += text; }

void EventWriter::flush() {
  output_.write(buffer_);
  buffer_.clear();
}

}  // namespace swinscope
