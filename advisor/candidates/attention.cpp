#include <algorithm>

#include "advisor/candidates/candidates.h"

namespace swinscope {
namespace {

bool is_product(const WorkItem& item) { return item.kind == OperationKind::kGemm; }
// What may lie between the two products: scale, bias, mask, softmax, dropout, changes of precision and order.
bool may_lie_between(const WorkItem& item) {
  return is_pointwise(item.kind) || item.kind == OperationKind::kAttention || item.kind == OperationKind::kSet;
}
bool is_softmax(const WorkItem& item) {
  return item.kernel.find("oftmax") != std::string_view::npos || item.kernel.find("oftMax") != std::string_view::npos;
}

}  // namespace

std::vector<Change> find_attention(const Work& work) {
  constexpr std::size_t kLongest = 16;
  Grouped found;
  for (const WorkStream& stream : work.streams()) {
    const std::vector<WorkItem>& items = stream.items;
    for (std::size_t first = 0; first < items.size(); ++first) {
      if (!is_product(items[first])) continue;
      std::size_t last = first + 1;
      bool has_softmax = false;
      while (last < items.size() && last - first < kLongest && !items[last].is_split && may_lie_between(items[last])) {
        has_softmax = has_softmax || is_softmax(items[last]);
        ++last;
      }
      if (!has_softmax || last >= items.size() || items[last].is_split || !is_product(items[last])) continue;
      std::vector<const WorkItem*> chain;
      std::int64_t total_ns = 0;
      std::int64_t products_ns = 0;
      for (std::size_t i = first; i <= last; ++i) {
        chain.push_back(&items[i]);
        total_ns += items[i].duration_ns;
        if (is_product(items[i])) products_ns += items[i].duration_ns;
      }
      Change& change = found.of(names_of(chain), [&] {
        Change made;
        made.title = "One kernel for attention instead of " + names_of(chain);
        made.why = "the scores are written and read several times between two products; a fused kernel keeps them on the chip";
        made.assumptions = {"the softmax is of the first product's result, the second product reads it",
                            "the fused kernel takes half (a quarter to all) of the two products' time"};
        return made;
      });
      const double first_ns = static_cast<double>(std::max<std::int64_t>(1, items[first].duration_ns));
      const double products = static_cast<double>(products_ns) / first_ns;
      change.scaled.push_back({items[first].ref, {products, 0.5 * products, 0.25 * products}});
      for (const WorkItem* item : chain) {
        change.evidence.push_back(item->ref);
        if (item != chain.front()) change.removed.push_back(item->ref);
      }
      first = last;
    }
  }
  return found.take(work, "attention");
}

}  // namespace swinscope
