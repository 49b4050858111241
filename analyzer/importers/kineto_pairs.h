// Matches the begin and end events ("B", "E") of a trace, which some exporters write instead of whole ones.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/importers/kineto_event.h"

namespace swinscope {

// An event whose text is kept until it is known what to do with it.
struct KeptEvent {
  std::string text;
  std::string name;
  std::int64_t ts_ns = 0;
  std::optional<std::int64_t> dur_ns;
  std::int64_t order = 0;  // in the file
};

class KinetoPairs {
 public:
  // Events have a time. False when too many are open to keep one more.
  bool begin(const KinetoEvent& event, std::string_view text, std::int64_t process, std::int64_t order);
  // The range that an end event closes: the last of its thread that has its name; without a name, the last one. Empty
  // when there is none that begins before.
  std::optional<KeptEvent> end(const KinetoEvent& event, std::int64_t process);
  // How many have begun and not ended.
  std::int64_t open() const;

 private:
  using Thread = std::pair<std::int64_t, std::string>;
  static Thread thread_of(const KinetoEvent& event, std::int64_t process);

  std::map<Thread, std::vector<KeptEvent>> open_;
  std::size_t bytes_ = 0;
};

}  // namespace swinscope
