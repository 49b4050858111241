#include <algorithm>

#include "advisor/candidates/candidates.h"

namespace swinscope {
namespace {

constexpr std::int64_t kLongestRow = 256;  // values that one block of a product's kernel holds whole
constexpr std::size_t kCopies = 2;         // that put the rows into another order in between

// The product that reads the rows of `items[norm]`, perhaps in another order; nullptr: there is none that holds them.
const WorkItem* reader_of(const std::vector<WorkItem>& items, std::size_t norm, std::vector<const WorkItem*>& chain) {
  for (std::size_t i = norm + 1; i < items.size() && i <= norm + 1 + kCopies && !items[i].is_split; ++i) {
    chain.push_back(&items[i]);
    if (items[i].kind == OperationKind::kLayout) continue;
    const std::optional<ProductShape> shape = single_product(items[i]);
    return shape && shape->k <= kLongestRow ? &items[i] : nullptr;
  }
  return nullptr;
}

// The product whose rows `items[norm]` normalizes, with a bias at most between the two.
const WorkItem* writer_of(const std::vector<WorkItem>& items, std::size_t norm) {
  std::size_t copies = 0;
  std::size_t biases = 0;
  for (std::size_t i = norm; i > 0 && !items[i].is_split; --i) {
    const WorkItem& before = items[i - 1];
    if (before.is_part) continue;
    if (before.kind == OperationKind::kLayout && copies++ < kCopies) continue;
    if (before.kind == OperationKind::kElementwise && biases++ == 0) continue;
    const std::optional<ProductShape> shape = single_product(before);
    return shape && shape->n <= kLongestRow ? &before : nullptr;
  }
  return nullptr;
}

// What adds the normalized rows to others; nullptr: nothing does.
const WorkItem* residual_behind(const std::vector<WorkItem>& items, std::size_t norm) {
  const std::size_t next = norm + 1;
  const bool is_sum = next < items.size() && !items[next].is_split && items[next].kind == OperationKind::kElementwise;
  return is_sum ? &items[next] : nullptr;
}

}  // namespace

std::vector<Change> find_normalizations(const Work& work) {
  // A backward pass reads the normalized rows for the gradient of the weights, and the rows for that of the
  // normalization: there they have to be written.
  if (is_training(work)) return {};
  Grouped found;
  for (const WorkStream& stream : work.streams()) {
    for (std::size_t norm = 0; norm < stream.items.size(); ++norm) {
      if (stream.items[norm].kind != OperationKind::kNorm) continue;
      std::vector<const WorkItem*> chain = {&stream.items[norm]};
      const WorkItem* product = reader_of(stream.items, norm, chain);
      const bool is_read = product != nullptr;
      if (!is_read) {
        product = writer_of(stream.items, norm);
        if (product == nullptr) continue;
        chain = {product, &stream.items[norm]};
        if (const WorkItem* sum = residual_behind(stream.items, norm)) chain.push_back(sum);
      }
      const auto first = chain.begin() + (is_read ? 0 : 1);
      const std::string names = names_of({first, is_read ? chain.end() - 1 : chain.end()});
      Change& change = found.of((is_read ? "read " : "written ") + names, [&] {
        Change made;
        made.title = (is_read ? "Let the product that reads them normalize its rows, instead of "
                              : "Let the product that writes them normalize its rows, instead of ") +
                     names;
        made.why = is_read ? "a row is short enough to lie on the chip whole when the product has read it"
                           : "a row is short enough to lie on the chip whole before the product writes it";
        made.assumptions = {is_read ? "nobody else reads the normalized rows" : "nobody else reads the product's rows",
                            "of their time 15 % (0 to 50 %) stays, in the product's kernel"};
        return made;
      });
      add_place(chain, *product, change).share = kOfFused;
    }
  }
  return found.take(work, "normalization");
}

}  // namespace swinscope
