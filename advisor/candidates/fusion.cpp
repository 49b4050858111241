#include <algorithm>

#include <fmt/format.h>

#include "advisor/candidates/candidates.h"

namespace swinscope {
namespace {

// Kernels of which one has many times the elements of the other do not work on the same tensor: told by their times,
// where both take long enough to tell.
bool may_be_of_one_size(const WorkItem& a, const WorkItem& b) {
  constexpr std::int64_t kShortNs = 5'000;
  constexpr std::int64_t kTimes = 6;
  const auto [less, more] = std::minmax(a.duration_ns, b.duration_ns);
  return more <= kShortNs || more <= kTimes * std::max(less, kShortNs / kTimes);
}

// By the program's own words: "forward" and "backward" are not mixed.
bool are_of_one_phase(const WorkItem& a, const WorkItem& b) {
  const auto phase = [](const WorkItem& item) {
    return item.operation == nullptr ? std::string_view() : item.operation->phase;
  };
  return phase(a) == phase(b);
}

}  // namespace

std::vector<Change> find_fusions(const Work& work) {
  constexpr std::size_t kLongest = 12;
  Grouped found;
  for (const WorkStream& stream : work.streams()) {
    std::vector<const WorkItem*> chain;
    const auto finish = [&] {
      if (chain.size() >= 2) {
        Change& change = found.of(names_of(chain), [&] {
          Change made;
          made.title = "Fuse " + names_of(chain);
          made.why =
              "these kernels follow each other on a stream and move data between them that one kernel would keep";
          made.assumptions = {"each hands its result to the next, and nobody else reads it",
                              "one kernel takes the time of the longest, and 15 % (0 to 50 %) of the others'"};
          return made;
        });
        const WorkItem& longest =
            **std::ranges::max_element(chain, {}, [](const WorkItem* item) { return item->duration_ns; });
        take_over(chain, longest, {}, change).share = kOfFused;
      }
      chain.clear();
    };
    for (const WorkItem& item : stream.items) {
      const bool goes_on = !chain.empty() && !item.is_split && is_pointwise(item.kind) && chain.size() < kLongest &&
                           may_be_of_one_size(*chain.back(), item) && are_of_one_phase(*chain.back(), item);
      if (!goes_on) finish();
      if (is_pointwise(item.kind)) chain.push_back(&item);
    }
    finish();
  }
  return found.take(work, "fusion");
}

}  // namespace swinscope
