#include "advisor/candidates/candidates.h"

namespace swinscope {

std::vector<Change> find_epilogues(const Work& work) {
  constexpr std::size_t kMost = 3;    // bias, activation, residual
  constexpr std::size_t kCopies = 2;  // that put the result into another order before these, as windows do
  Grouped found;
  for (const WorkStream& stream : work.streams()) {
    const std::vector<WorkItem>& items = stream.items;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!is_product(items[i]) && items[i].kind != OperationKind::kConv) continue;
      std::vector<const WorkItem*> chain = {&items[i]};
      const std::size_t last = end_of_product(items, i) - 1;
      std::size_t copies = 0;
      while (chain.size() - copies <= kMost && last + chain.size() < items.size()) {
        const WorkItem& next = items[last + chain.size()];
        // What takes longer than the product works on something larger.
        if (next.is_split || next.duration_ns > 2 * items[i].duration_ns) break;
        if (next.kind == OperationKind::kLayout && copies < kCopies) {
          ++copies;
        } else if (next.kind != OperationKind::kElementwise) {
          break;
        }
        chain.push_back(&next);
      }
      while (chain.back()->kind == OperationKind::kLayout)  // for what comes behind
        chain.pop_back();
      if (chain.size() < 2) continue;
      Change& change = found.of(names_of({chain.begin() + 1, chain.end()}), [&] {
        Change made;
        made.title = "Move " + names_of({chain.begin() + 1, chain.end()}) + " into the product before it";
        made.why = "they work element by element on what a matrix product has just written, in its order or another";
        made.assumptions = {"they read the product's result, and nobody else does",
                            "of their time 15 % (0 to 50 %) stays, in the product's kernel"};
        return made;
      });
      add_place(chain, items[i], change).share = kOfFused;
    }
  }
  return found.take(work, "epilogue");
}

}  // namespace swinscope
