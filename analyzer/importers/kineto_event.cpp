#include "analyzer/importers/kineto_event.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <cstring>
#include <type_traits>
#include <utility>
#include <variant>

#include <simdjson.h>

#include "analyzer/importers/key_table.h"
#include "store/utf8.h"

namespace swinscope {
namespace {

namespace od = simdjson::ondemand;

constexpr std::int64_t kMaxTimeNs = std::int64_t{1} << 61;

// Unsigned numbers beyond 2^63 become negative ones: all 64 bits are kept.
std::optional<std::int64_t> integer_of(std::string_view token) {
  if (token.substr(0, 2) == "0x" || token.substr(0, 2) == "0X") {
    std::uint64_t bits = 0;
    const auto [end, code] = std::from_chars(token.data() + 2, token.data() + token.size(), bits, 16);
    if (code != std::errc() || end == token.data() + 2) return std::nullopt;
    return static_cast<std::int64_t>(bits);
  }
  std::int64_t result = 0;
  const auto [end, code] = std::from_chars(token.data(), token.data() + token.size(), result);
  if (code == std::errc() && end != token.data()) return result;
  std::uint64_t bits = 0;
  if (code != std::errc::result_out_of_range ||
      std::from_chars(token.data(), token.data() + token.size(), bits).ec != std::errc()) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(bits);
}

// The usual notation, which nearly all times have: digits that fit, and three decimals at most. Empty for any other.
std::optional<std::int64_t> plain_microseconds(std::string_view text) {
  constexpr std::size_t kLongest = 17;
  if (text.size() > kLongest) return std::nullopt;
  std::int64_t value = 0;
  int decimals = -1;  // no point yet
  bool digits = false;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      value = value * 10 + (c - '0');
      digits = true;
      if (decimals >= 0) ++decimals;
    } else if (c == '.' && decimals < 0) {
      decimals = 0;
    } else {
      return std::nullopt;
    }
  }
  if (!digits || decimals > 3 || value > kMaxTimeNs / 1000) return std::nullopt;
  for (decimals = std::max(decimals, 0); decimals < 3; ++decimals)
    value *= 10;
  return value;
}

// The value of a field as an integer; absent for other types. PyTorch writes some ids as floating-point numbers or
// strings.
std::optional<std::int64_t> as_integer(od::value value) {
  std::string_view token = value.raw_json_token();
  if (!token.empty() && token.front() == '"') token.remove_prefix(1);
  return integer_of(token);
}

std::int64_t as_integer_or_zero(od::value value) { return as_integer(value).value_or(0); }

// Trailing white space belongs to simdjson's token.
std::string_view trimmed(std::string_view token) {
  while (!token.empty() && std::isspace(static_cast<unsigned char>(token.back())) != 0)
    token.remove_suffix(1);
  return token;
}

// The characters of a string up to its quote or its first escape, which most do not have: to find that takes a tenth of
// the time of unescaping. Eight at a time: a loop that ends elsewhere each time is guessed wrong each time. What lies
// behind the text is padding.
std::string_view plain_part(const char* begin) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::uint64_t kEach = 0x0101010101010101;
  const auto zeros = [](std::uint64_t bytes) { return (bytes - kEach) & ~bytes & (kEach << 7U); };
  for (const char* at = begin;; at += sizeof(std::uint64_t)) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, at, sizeof bytes);
    const std::uint64_t found = zeros(bytes ^ kEach * '"') | zeros(bytes ^ kEach * '\\');
    if (found != 0) return {begin, at + std::countr_zero(found) / 8};
  }
}

std::string_view key_of(od::field& field) {
  const std::string_view plain = plain_part(field.key().raw());
  if (*plain.end() == '"') return plain;
  return field.unescaped_key();
}

// Calls read(key, value) for each field, which stays where the iterator puts it. Throws simdjson_error.
template <typename Read>
void for_each_field(od::object object, const Read& read) {
  for (auto found : object) {
    if (found.error() != simdjson::SUCCESS) throw simdjson::simdjson_error(found.error());
    od::field&& field = std::move(found).value_unsafe();
    const std::string_view key = key_of(field);
    read(key, field.value());
  }
}

// A string that cannot be unescaped (Python writes bytes that are no text as lone surrogates) stays as it is written.
std::string_view as_text(od::value value) {
  std::string_view token = value.raw_json_token();
  if (token.empty() || token.front() != '"') return {};
  token.remove_prefix(1);
  if (const std::string_view plain = plain_part(token.data()); *plain.end() == '"') return plain;
  std::string_view text;
  if (value.get_string().get(text) == simdjson::SUCCESS) return text;
  token = trimmed(token);
  if (!token.empty() && token.back() == '"') token.remove_suffix(1);
  return token;
}

// Objects and arrays as their JSON text; strings as they are.
std::string_view as_text_or_json(od::value value) {
  od::json_type type{};
  if (value.type().get(type) != simdjson::SUCCESS) return {};
  if (type == od::json_type::string) return as_text(value);
  std::string_view json;
  if (od::array array; type == od::json_type::array && value.get_array().get(array) == simdjson::SUCCESS)
    return array.raw_json().get(json) == simdjson::SUCCESS ? json : std::string_view();
  if (od::object object; type == od::json_type::object && value.get_object().get(object) == simdjson::SUCCESS)
    return object.raw_json().get(json) == simdjson::SUCCESS ? json : std::string_view();
  return trimmed(value.raw_json_token());
}

Dim3 as_dim3(od::value value) {
  Dim3 dim;
  const std::array<std::int32_t*, 3> parts = {&dim.x, &dim.y, &dim.z};
  std::size_t i = 0;
  od::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) return dim;
  for (auto element : array) {
    std::int64_t number = 0;
    if (i == parts.size() || element.get_int64().get(number) != simdjson::SUCCESS) break;
    if (number < 0 || number > INT32_MAX) break;
    *parts[i++] = static_cast<std::int32_t>(number);
  }
  return dim;
}

// What an argument is read into, as its type says.
void read_into(std::int64_t& to, od::value value) { to = as_integer_or_zero(value); }
void read_into(std::optional<std::int64_t>& to, od::value value) { to = as_integer(value); }
void read_into(std::string_view& to, od::value value) { to = as_text(value); }
void read_into(Dim3& to, od::value value) { to = as_dim3(value); }
void read_into(bool& to, od::value value) { to = as_integer_or_zero(value) != 0; }

// Text that may be JSON.
template <typename Owner>
struct JsonMember {
  std::string_view Owner::*text;
};

template <typename Owner>
using Member = std::variant<std::int64_t Owner::*, std::optional<std::int64_t> Owner::*, std::string_view Owner::*,
                            JsonMember<Owner>, Dim3 Owner::*, bool Owner::*>;

template <typename Owner>
void read_member(Owner& owner, const Member<Owner>& member, od::value value) {
  std::visit(
      [&](const auto& to) {
        if constexpr (std::is_same_v<decltype(to), const JsonMember<Owner>&>) {
          owner.*to.text = as_text_or_json(value);
        } else {
          read_into(owner.*to, value);
        }
      },
      member);
}

using Event = KinetoEvent;
using Own = OwnArguments;

constexpr KeyTable kArguments(std::to_array<std::pair<std::string_view, Member<Event>>>(
    {{"External id", &Event::external_id},
     {"external id", &Event::external_id},
     {"correlation", &Event::correlation},
     {"stream", &Event::stream},
     {"device", &Event::device},
     {"context", &Event::context},
     {"grid", &Event::grid},
     {"block", &Event::block},
     {"registers per thread", &Event::registers},
     {"shared memory", &Event::shared_memory},
     {"bytes", &Event::bytes},
     {"Sequence number", &Event::sequence},
     {"graph node id", &Event::graph_node},
     {"graph id", &Event::graph},
     {"name", &Event::label},
     {"labels", &Event::label},
     {"Input Dims", JsonMember<Event>{&Event::input_dims}},
     {"Input type", JsonMember<Event>{&Event::input_types}},
     {"Concrete Inputs", JsonMember<Event>{&Event::concrete_inputs}},
     {"Collective name", &Event::collective},
     {"dtype", &Event::dtype},
     {"Process Group Name", &Event::group_name},
     {"Process Group Ranks", JsonMember<Event>{&Event::group_ranks}},
     {"In msg nelems", &Event::in_elements},
     {"Out msg nelems", &Event::out_elements},
     {"Group size", &Event::group_size},
     {"Seq", &Event::seq},
     {"event_id", &Event::event_id},
     {"wait_on_cuda_event_id", &Event::event_id},
     {"wait_on_stream", &Event::wait_stream},
     {"wait_on_cuda_event_record_corr_id", &Event::wait_record},
     {"Total Allocated", &Event::total_allocated},
     {"Total Reserved", &Event::total_reserved},
     {"Device Id", &Event::memory_device},
     {"Device Type", &Event::device_type}}));

constexpr KeyTable kOwnArguments(
    std::to_array<std::pair<std::string_view, Member<Own>>>({{"global_pid", &Own::global_pid},
                                                             {"global_tid", &Own::global_tid},
                                                             {"domain_id", &Own::domain},
                                                             {"whole graph", &Own::whole_graph},
                                                             {"stream_id", &Own::stream},
                                                             {"static shared memory", &Own::static_shared_memory},
                                                             {"event_sync", &Own::event_sync},
                                                             {"type", &Own::type},
                                                             {"green_context", &Own::green_context},
                                                             {"range", &Own::range},
                                                             {"category", &Own::category},
                                                             {"color", &Own::color},
                                                             {"value_type", &Own::value_type},
                                                             {"int64_value", &Own::int64_value},
                                                             {"double_bits", &Own::double_bits},
                                                             {"payload", JsonMember<Own>{&Own::payload}},
                                                             {"cluster", &Own::cluster},
                                                             {"derived", &Own::is_derived}}));

void read_argument(KinetoEvent& event, std::string_view key, od::value& value, bool expects_own) {
  if (const auto* const member = kArguments.find(key)) {
    read_member(event, *member, value);
  } else if (key.starts_with("hlo_")) {
    event.has_hlo = true;
  } else if (expects_own) {
    if (const auto* const own = kOwnArguments.find(key)) read_member(event.own, *own, value);
  }
}

// Some exporters write times as strings.
void read_time(std::optional<std::int64_t>& time, bool& bad, od::value value) {
  std::string_view token = trimmed(value.raw_json_token());
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"') token = token.substr(1, token.size() - 2);
  time = parse_microseconds(token);
  bad |= !time.has_value();
}

// A process or thread: a number, a number as text, or a name.
void read_id(std::optional<std::int64_t>& number, std::string_view& text, od::value value) {
  number = as_integer(value);
  std::string_view token = trimmed(value.raw_json_token());
  if (token.empty() || token.front() != '"') return;
  text = as_text(value);
  const bool is_number = !text.empty() && text.find_first_not_of("-0123456789") == std::string_view::npos;
  if (is_number) {
    text = {};
  } else {
    number.reset();
  }
}

void read_field(KinetoEvent& event, std::string_view key, od::value& value, bool expects_own) {
  if (key == "ph") {
    event.phase = as_text(value);
  } else if (key == "cat") {
    event.category = as_text(value);
  } else if (key == "name") {
    event.name = as_text(value);
  } else if (key == "pid") {
    read_id(event.pid, event.pid_text, value);
  } else if (key == "tid") {
    read_id(event.tid, event.tid_text, value);
  } else if (key == "ts") {
    read_time(event.ts_ns, event.bad_time, value);
  } else if (key == "dur") {
    read_time(event.dur_ns, event.bad_time, value);
  } else if (key == "args") {
    od::object arguments;
    if (value.get_object().get(arguments) != simdjson::SUCCESS) return;
    for_each_field(arguments, [&](std::string_view name, od::value& argument) {
      read_argument(event, name, argument, expects_own);
    });
  }
}

}  // namespace

KinetoKind kineto_kind(std::string_view category) {
  static constexpr KeyTable kKinds(
      std::to_array<std::pair<std::string_view, KinetoKind>>({{"cpu_op", KinetoKind::kOperator},
                                                              {"kernel", KinetoKind::kKernel},
                                                              {"cuda_runtime", KinetoKind::kRuntime},
                                                              {"python_function", KinetoKind::kPython},
                                                              {"cuda_driver", KinetoKind::kDriver},
                                                              {"gpu_memcpy", KinetoKind::kCopy},
                                                              {"gpu_memset", KinetoKind::kSet},
                                                              {"user_annotation", KinetoKind::kAnnotation},
                                                              {"gpu_user_annotation", KinetoKind::kGpuAnnotation},
                                                              {"cuda_sync", KinetoKind::kSync},
                                                              {"cuda_event", KinetoKind::kCudaEvent},
                                                              {"overhead", KinetoKind::kOverhead},
                                                              {"ac2g", KinetoKind::kIgnored},
                                                              {"fwdbwd", KinetoKind::kIgnored},
                                                              {"Trace", KinetoKind::kIgnored},
                                                              {"hip_runtime", KinetoKind::kRuntime},
                                                              {"hip_driver", KinetoKind::kDriver},
                                                              {"xpu_runtime", KinetoKind::kRuntime},
                                                              {"xpu_driver", KinetoKind::kDriver},
                                                              {"privateuse1_runtime", KinetoKind::kRuntime},
                                                              {"privateuse1_driver", KinetoKind::kDriver},
                                                              {"Kernel", KinetoKind::kKernel},
                                                              {"Memcpy", KinetoKind::kCopy},
                                                              {"Memset", KinetoKind::kSet},
                                                              {"Runtime", KinetoKind::kRuntime},
                                                              {"Operator", KinetoKind::kOperator}}));
  const KinetoKind* const kind = kKinds.find(category);
  return kind != nullptr ? *kind : KinetoKind::kOther;
}

bool is_launch_call(std::string_view name) {
  constexpr std::array<std::string_view, 3> kWords = {"Launch", "Memcpy", "Memset"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

bool is_flow_arrow(std::string_view text) {
  constexpr std::size_t kLongest = 256;
  constexpr std::string_view kKey = "\"ph\"";
  if (text.size() > kLongest || text.empty() || text.front() != '{') return false;
  const auto skip = [&](std::size_t count) {
    while (count < text.size() &&
           (text[count] == ' ' || text[count] == '\n' || text[count] == '\r' || text[count] == '\t'))
      ++count;
    text.remove_prefix(count);
  };
  skip(1);
  if (!text.starts_with(kKey)) return false;
  skip(kKey.size());
  if (!text.starts_with(':')) return false;
  skip(1);
  if (!text.starts_with("\"s\"") && !text.starts_with("\"f\"") && !text.starts_with("\"t\"")) return false;
  // Damage may hide the events behind it.
  return text.ends_with('}') && text.find('{') == std::string_view::npos && std::ranges::count(text, '"') % 2 == 0;
}

std::optional<std::int64_t> parse_microseconds(std::string_view text) {
  if (const std::optional<std::int64_t> plain = plain_microseconds(text)) return plain;
  std::size_t i = 0;
  const bool negative = i < text.size() && text[i] == '-';
  if (negative) ++i;
  // The digits as one integer, and how far its last digit stands from the nanosecond.
  __extension__ using Wide = __int128;  // wide enough for the digits of any time within range
  constexpr Wide kMaxMantissa = Wide{1} << 100;
  Wide mantissa = 0;
  int shift = 3;
  bool point = false;
  bool digits = false;
  for (; i < text.size() && (text[i] == '.' || std::isdigit(static_cast<unsigned char>(text[i])) != 0); ++i) {
    if (text[i] == '.') {
      if (point) return std::nullopt;
      point = true;
      continue;
    }
    digits = true;
    if (mantissa > kMaxMantissa) {
      if (!point) return std::nullopt;
      continue;  // decimals far beyond the nanosecond
    }
    mantissa = mantissa * 10 + (text[i] - '0');
    shift -= point ? 1 : 0;
  }
  if (!digits) return std::nullopt;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && text[i] == '+') {
      ++i;
      if (i < text.size() && text[i] == '-') return std::nullopt;
    }
    int exponent = 0;
    const auto [end, code] = std::from_chars(text.data() + i, text.data() + text.size(), exponent);
    if (code != std::errc() || exponent < -100 || exponent > 100) return std::nullopt;
    shift += exponent;
    i = static_cast<std::size_t>(end - text.data());
  }
  if (i != text.size()) return std::nullopt;
  for (; shift > 0; --shift) {
    mantissa *= 10;
    if (mantissa > kMaxMantissa) return std::nullopt;
  }
  for (; shift < -1; ++shift)
    mantissa /= 10;
  if (shift == -1) mantissa = (mantissa + 5) / 10;
  if (mantissa > kMaxTimeNs) return std::nullopt;
  const auto ns = static_cast<std::int64_t>(mantissa);
  return negative ? -ns : ns;
}

struct KinetoEventParser::Parser {
  od::parser parser;
  std::string repaired;
};

KinetoEventParser::KinetoEventParser() : parser_(std::make_unique<Parser>()) {}
KinetoEventParser::~KinetoEventParser() = default;

std::size_t KinetoEventParser::padding() { return simdjson::SIMDJSON_PADDING; }

const KinetoEvent* KinetoEventParser::parse(std::string_view text) {
  event_ = {};
  error_ = {};
  od::document document;
  auto code = parser_->parser.iterate(text.data(), text.size(), text.size() + padding()).get(document);
  if (code == simdjson::UTF8_ERROR) {
    ++repaired_;
    parser_->repaired = replace_invalid_utf8(text);
    parser_->repaired.reserve(parser_->repaired.size() + padding());
    code = parser_->parser.iterate(parser_->repaired).get(document);
  }
  try {
    if (code == simdjson::SUCCESS) {
      for_each_field(document.get_object(),
                     [&](std::string_view key, od::value& value) { read_field(event_, key, value, expects_own_); });
      return &event_;
    }
  } catch (const simdjson::simdjson_error& error) {
    code = error.error();
  }
  error_ = simdjson::error_message(code);
  return nullptr;
}

}  // namespace swinscope
