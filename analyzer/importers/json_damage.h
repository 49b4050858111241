// Finds the way through damaged JSON of a Chrome trace: a quote too many, a missing brace, two writers in one file.
//
// A careful reader, a character at a time, for the few places where JsonSplitter's fast scan has lost its way. Damage
// costs the events that it touches: an event is taken for sound when its text is a whole object with a phase ("ph").
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace swinscope {

enum class JsonState : std::uint8_t { kWhole, kUnfinished, kBroken };

struct JsonCheck {
  JsonState state = JsonState::kUnfinished;
  std::size_t end = 0;     // whole: behind the value; broken: of the first character that cannot be
  bool has_phase = false;  // of an object: one of its keys is "ph"
};

// The JSON value at the beginning of `text`. Bare words (NaN, N/A) and wrong escapes pass: whoever needs the value
// finds out. Control characters in strings do not, nor does anything nested more than 200 deep.
JsonCheck check_json(std::string_view text);

// Phases in a text: how many events it was.
std::int64_t count_phases(std::string_view text);

struct Salvage {
  std::size_t read = 0;    // what follows is sound but unfinished, or the end of the array
  std::int64_t lost = 0;   // events
  std::int64_t odd = 0;    // sound elements that are no objects
  bool is_lost = false;    // no way back was found: what follows is kept only to look further
  bool any_event = false;  // one was delivered
};

struct SalvageOptions {
  bool is_lost = false;     // the text does not begin where an element or its end may
  bool is_counted = false;  // what is lost at its beginning was counted before
  bool is_last = false;     // nothing follows the text
  bool is_array = false;    // the document is the array
};

// Delivers the sound events of damaged text out of an array of events.
Salvage salvage_events(std::string_view text, const SalvageOptions& options,
                       const std::function<void(std::string_view)>& on_event);

}  // namespace swinscope
