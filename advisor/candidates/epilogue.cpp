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
        if (next.is_split || next.kind != OperationKind::kElementwise || next.duration_ns > 2 * items[i].duration_ns) break;
        chain.push_back(&next);
      }
      if (chain.size() < 2) continue;
      Change& change = found.of(names_of({chain.begin() + 1, chain.end()}), [&] {
        Change made;
        made.title = "Move " + names_of({chain.begin() + 1, chain.end()}) + " into the product before it";
        made.why = "they work element by element on what a matrix product has just written";
        made.assumptions = {"they read the product's result, and nobody else does",
                            "the product's kernel takes 4 % (0 to 12 %) longer for each of them"};
        return made;
      });
      const auto more = static_cast<double>(chain.size() - 1);
      change.scaled.push_back({items[i].ref, {1 + 0.12 * more, 1 + 0.04 * more, 1}});
      for (const WorkItem* item : chain) {
        change.evidence.push_back(item->ref);
        if (item != &items[i]) change.removed.push_back(item->ref);
      }
    }
  }
  return found.take(work, "epilogue");
}

}  // namespace swinscope
