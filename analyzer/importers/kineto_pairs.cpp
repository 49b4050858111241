#include "analyzer/importers/kineto_pairs.h"

#include <algorithm>

#include <fmt/format.h>

namespace swinscope {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

}  // namespace

KinetoPairs::Thread KinetoPairs::thread_of(const KinetoEvent& event, std::int64_t process) {
  return {process, event.tid ? fmt::format("{}", *event.tid) : std::string(event.tid_text)};
}

bool KinetoPairs::begin(const KinetoEvent& event, std::string_view text, std::int64_t process, std::int64_t order) {
  if (bytes_ + text.size() > kMaxBytes) return false;
  bytes_ += text.size();
  open_[thread_of(event, process)].push_back({std::string(text), std::string(event.name), *event.ts_ns, {}, order});
  return true;
}

std::optional<KeptEvent> KinetoPairs::end(const KinetoEvent& event, std::int64_t process) {
  std::vector<KeptEvent>& open = open_[thread_of(event, process)];
  const auto found = std::find_if(open.rbegin(), open.rend(),
                                  [&](const KeptEvent& kept) { return event.name.empty() || kept.name == event.name; });
  if (found == open.rend() || *event.ts_ns < found->ts_ns) return std::nullopt;
  KeptEvent range = std::move(*found);
  open.erase(std::next(found).base());
  bytes_ -= range.text.size();
  range.dur_ns = *event.ts_ns - range.ts_ns;
  return range;
}

std::int64_t KinetoPairs::open() const {
  std::int64_t count = 0;
  for (const auto& [thread, open] : open_)
    count += std::ssize(open);
  return count;
}

}  // namespace swinscope
