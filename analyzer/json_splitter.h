// Splits a Chrome-trace JSON document into its events without parsing them: finds where each element of "traceEvents"
// (or of a document that is one array) begins and ends. Works on pieces of any size in bounded memory, so files larger
// than memory stream through, and one malformed event costs that event only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace swinscope {

class JsonSplitter {
 public:
  // `on_event` gets the text of each element; the view is valid during the call.
  explicit JsonSplitter(std::function<void(std::string_view)> on_event) : on_event_(std::move(on_event)) {}

  // Throws Error(kInput) when one element or the rest of the document exceeds its limit of size or depth.
  void feed(std::string_view piece);

  // The document without its events: "{…, "traceEvents": [], …}". Complete only when the input was.
  const std::string& skeleton() const { return skeleton_; }
  // The events array was found.
  bool found_events() const { return found_; }
  // The document was closed.
  bool complete() const { return complete_; }
  // Bytes of an element that had begun when the input ended.
  std::size_t unfinished_bytes() const { return event_.size(); }
  // Elements that are no objects.
  std::int64_t odd_elements() const { return odd_elements_; }

 private:
  enum class Where { kBefore, kOutside, kEvents, kInEvent, kInOddElement, kAfter };

  std::size_t outside(std::string_view piece, std::size_t at);
  std::size_t between_events(std::string_view piece, std::size_t at);
  std::size_t in_event(std::string_view piece, std::size_t at);
  std::size_t in_odd_element(std::string_view piece, std::size_t at);
  bool in_string(char c);
  std::uint64_t escaped(std::uint64_t backslashes, std::size_t size);
  void end_event(std::string_view last_part);
  void add_to_skeleton(char c);

  std::function<void(std::string_view)> on_event_;
  Where where_ = Where::kBefore;
  std::string skeleton_;
  std::string event_;        // the part of an element that came with earlier pieces
  std::string last_string_;  // the string read last outside the events: a key, when ':' follows
  int depth_ = 0;            // of brackets outside the events or within an odd element, or of braces within an event
  bool in_string_ = false;
  bool escaped_ = false;
  bool events_key_ = false;  // "traceEvents" and ':' were just read at depth 1
  bool array_document_ = false;
  bool found_ = false;
  bool complete_ = false;
  std::int64_t odd_elements_ = 0;
};

}  // namespace swinscope
