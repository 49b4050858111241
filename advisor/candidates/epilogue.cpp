#include <algorithm>

#include "advisor/candidates/candidates.h"

namespace swinscope {

std::vector<Change> find_epilogues(const Work& work) {
  constexpr std::size_t kMost = 3;  // bias, activation, residual
  Grouped found;
  for (const WorkStream& stream : work.streams()) {
    const std::vector<WorkItem>& items = stream.items;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].kind != OperationKind::kGemm && items[i].kind != OperationKind::kConv) continue;
      std::vector<const WorkItem*> chain = {&items[i]};
      while (chain.size() <= kMost && i + chain.size() < items.size()) {
        const WorkItem& next = items[i + chain.size()];
        // What takes longer than the product works on something larger.
        if (next.is_split || next.kind != OperationKind::kElementwise || next.duration_ns > 2 * items[i].duration_ns)
          break;
        chain.push_back(&next);
      }
      if (chain.size() < 2) continue;
      Change& change = found.of(names_of({chain.begin() + 1, chain.end()}), [&] {
        Change made;
        made.title = "Move " + names_of({chain.begin() + 1, chain.end()}) + " into the product before it";
        made.why = "they work element by element on what a matrix product has just written";
        made.assumptions = {"they read the product's result, and nobody else does",
                            "of their time 15 % (0 to 50 %) stays, in the product's kernel"};
        return made;
      });
      std::int64_t others_ns = -items[i].duration_ns;
      for (const WorkItem* item : chain)
        others_ns += item->duration_ns;
      const double share =
          static_cast<double>(others_ns) / static_cast<double>(std::max<std::int64_t>(1, items[i].duration_ns));
      add_place(chain, items[i], {1 + 0.5 * share, 1 + 0.15 * share, 1}, change);
    }
  }
  return found.take(work, "epilogue");
}

}  // namespace swinscope
