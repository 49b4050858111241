#include <algorithm>

#include "advisor/candidates/candidates.h"

namespace swinscope {

std::vector<Change> find_optimizers(const Work& work) {
  constexpr std::size_t kFew = 4;  // that is a fused optimizer already
  Grouped found;
  for (const WorkStream& stream : work.streams()) {
    const std::vector<WorkItem>& items = stream.items;
    const auto is_part = [](const WorkItem& item) {
      return item.kind == OperationKind::kOptimizer ||
             (item.operation != nullptr && item.operation->phase == "optimizer" && is_pointwise(item.kind));
    };
    for (std::size_t begin = 0; begin < items.size();) {
      if (!is_part(items[begin])) {
        ++begin;
        continue;
      }
      std::vector<const WorkItem*> chain;
      while (begin < items.size() && is_part(items[begin]))
        chain.push_back(&items[begin++]);
      if (chain.size() <= kFew) continue;
      Change& change = found.of("optimizer", [] {
        Change made;
        made.title = "One fused kernel for the optimizer's step";
        made.why =
            "an optimizer that works through its parameters one operation after the other reads and writes each "
            "of them for every operation";
        made.assumptions = {
            "AdamW operation by operation moves each parameter's state 21 times, fused 7 times: a third "
            "of the time (a quarter to a half)"};
        return made;
      });
      std::int64_t total_ns = 0;
      for (const WorkItem* item : chain) {
        total_ns += item->duration_ns;
      }
      const double total =
          static_cast<double>(total_ns) / static_cast<double>(std::max<std::int64_t>(1, chain.front()->duration_ns));
      add_place(chain, *chain.front(), change).factor = {total / 2, total / 3, total / 4};
    }
  }
  return found.take(work, "optimizer");
}

}  // namespace swinscope
