// Splits Chrome-trace JSON into its events without parsing them: finds where each element of "traceEvents" (or of a
// document that is one array) begins and ends. Works on pieces of any size in bounded memory, so files larger than
// memory stream through. Damage costs the events that it touches: when an event does not end, json_damage.h finds the
// next one. Several documents may stand one behind another.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace swinscope {

// What remains of a document when the events have been taken out.
struct JsonDocument {
  std::string skeleton;  // "{…, "traceEvents": [], …}"; complete only when the document was
  bool found_events = false;
  bool complete = false;           // it was closed
  bool broken_skeleton = false;    // the text around the events is no JSON
  std::int64_t odd_elements = 0;   // of the array, that are no objects
  char first_odd = '\0';           // with what the first of them begins
  std::int64_t lost_events = 0;    // to damage
  std::uint64_t bytes_behind = 0;  // that belong to nothing
};

class JsonSplitter {
 public:
  using OnEvent = std::function<void(std::string_view)>;
  using OnDocument = std::function<void(const JsonDocument&)>;

  // `on_event` gets the text of each element, valid during the call. `on_document` is told of a document when another
  // one begins; the last one is document().
  explicit JsonSplitter(OnEvent on_event, OnDocument on_document = {})
      : on_event_(std::move(on_event)), on_document_(std::move(on_document)) {}

  // Throws Error(kInput) when one element or what stands before the events exceeds its limit of size or depth.
  void feed(std::string_view piece);
  // There is no more: what is unfinished is looked through for events.
  void finish();

  const JsonDocument& document() const { return document_; }
  // Bytes of an element that had begun when the input ended.
  std::size_t unfinished_bytes() const { return element_.size(); }

 private:
  // kLost: somewhere among damaged events. kIgnored: behind a document whose end was not recognized.
  enum class Where { kBefore, kOutside, kEvents, kInEvent, kInOddElement, kLost, kAfter, kIgnored };

  std::size_t before(std::string_view piece, std::size_t at);
  std::size_t outside(std::string_view piece, std::size_t at);
  std::size_t between_events(std::string_view piece, std::size_t at);
  std::size_t in_event(std::string_view piece, std::size_t at);
  std::size_t in_odd_element(std::string_view piece, std::size_t at);
  bool follows_colon(std::string_view before) const;
  std::size_t lost(std::string_view piece, std::size_t at);
  std::size_t after(std::string_view piece, std::size_t at);
  bool in_string(char c);
  std::uint64_t escaped(std::uint64_t backslashes, std::size_t size);
  void end_event(std::string_view last_part);
  void add_to_skeleton(char c);
  void grow_skeleton();
  bool find_events_textually();
  void finish_outside();
  void check_size();
  void salvage(bool is_last);
  void begin_elements();

  OnEvent on_event_;
  OnDocument on_document_;
  JsonDocument document_;
  Where where_ = Where::kBefore;
  std::string element_;  // what came of it with earlier pieces
  std::size_t element_limit_ = kSoftLimit;
  std::size_t skeleton_limit_ = kSoftLimit;
  std::string last_string_;  // the string read last outside the events: a key, when ':' follows
  int depth_ = 0;            // of brackets outside the events or within an odd element, or of braces within an event
  bool in_string_ = false;
  bool escaped_ = false;
  bool events_key_ = false;  // "traceEvents" and ':' were just read at depth 1
  bool array_document_ = false;
  bool is_suspect_ = false;       // of an event: its braces may be those of several
  bool lost_is_counted_ = false;  // of kLost: the events at the beginning of element_

  // Beyond this an element is looked through for damage.
  static constexpr std::size_t kSoftLimit = std::size_t{1} << 16;
};

}  // namespace swinscope
