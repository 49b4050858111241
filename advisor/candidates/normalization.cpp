#include <algorithm>

#include "advisor/candidates/candidates.h"

namespace swinscope {
namespace {

constexpr std::int64_t kLongestRow = 256;  // values that one block of a product's kernel holds whole

// The product that reads the rows of `items[norm]`, perhaps in another order; nullptr: there is none that holds them.
const WorkItem* reader_of(const std::vector<WorkItem>& items, std::size_t norm, std::vector<const WorkItem*>& chain) {
  constexpr std::size_t kCopies = 2;
  for (std::size_t i = norm + 1; i < items.size() && i <= norm + 1 + kCopies && !items[i].is_split; ++i) {
    chain.push_back(&items[i]);
    if (items[i].kind == OperationKind::kLayout) continue;
    if (items[i].kind != OperationKind::kGemm || items[i].operation == nullptr) return nullptr;
    const std::optional<ProductShape> shape = product_of(*items[i].what);
    return shape && shape->batch == 1 && shape->k <= kLongestRow ? &items[i] : nullptr;
  }
  return nullptr;
}

}  // namespace

std::vector<Change> find_normalizations(const Work& work) {
  // A backward pass reads the normalized rows for the gradient of the weights: there they have to be written.
  if (is_training(work)) return {};
  Grouped found;
  for (const WorkStream& stream : work.streams()) {
    for (std::size_t norm = 0; norm < stream.items.size(); ++norm) {
      if (stream.items[norm].kind != OperationKind::kNorm) continue;
      std::vector<const WorkItem*> chain = {&stream.items[norm]};
      const WorkItem* product = reader_of(stream.items, norm, chain);
      if (product == nullptr) continue;
      const std::string names = names_of({chain.begin(), chain.end() - 1});
      Change& change = found.of(names, [&] {
        Change made;
        made.title = "Let the product that reads them normalize its rows, instead of " + names;
        made.why = "a row is short enough to lie on the chip whole when the product has read it";
        made.assumptions = {"nobody else reads the normalized rows",
                            "of the normalization's time 15 % (0 to 50 %) stays, in the product's kernel"};
        return made;
      });
      add_place(chain, *product, change).share = kOfFused;
    }
  }
  return found.take(work, "normalization");
}

}  // namespace swinscope
