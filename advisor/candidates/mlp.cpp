#include <optional>

#include "advisor/candidates/candidates.h"
#include "advisor/candidates/one_kernel.h"

namespace swinscope {
namespace {

constexpr std::int64_t kLongestRow = 256;  // values of a token that a block of the kernel holds whole
constexpr Reached kReached = {{0.45, 0.65, 0.9}, {0.4, 0.55, 0.75}};

// From the product at `first`, which widens short rows, to that which reads its result after elementwise work; empty:
// there is none.
std::vector<const WorkItem*> chain_from(const std::vector<WorkItem>& items, std::size_t first) {
  constexpr std::size_t kMostBetween = 3;
  const std::optional<ProductShape> wide = single_product(items[first]);
  if (!wide || wide->k > kLongestRow || wide->n <= wide->k) return {};
  std::vector<const WorkItem*> chain = {&items[first]};
  for (std::size_t i = first + 1; i < items.size() && i <= first + 1 + kMostBetween && !items[i].is_split; ++i) {
    chain.push_back(&items[i]);
    if (items[i].kind == OperationKind::kElementwise || items[i].is_part) continue;
    const std::optional<ProductShape> narrow = single_product(items[i]);
    const bool reads_it = narrow && narrow->m == wide->m && narrow->k == wide->n && narrow->n <= kLongestRow;
    return reads_it && chain.size() > 2 ? chain : std::vector<const WorkItem*>();
  }
  return {};
}

ProductDemand demand_of(const WorkItem& wide, const WorkItem& narrow) {
  ProductDemand demand;
  demand.precision = wide.precision;
  for (const WorkItem* product : {&wide, &narrow}) {
    const ProductShape shape = *single_product(*product);
    const auto rows = static_cast<double>(shape.m);
    const auto weights = static_cast<double>(shape.n) * static_cast<double>(shape.k);
    demand.flops += 2 * rows * weights;
    demand.values += weights + rows * static_cast<double>(product == &wide ? shape.k : shape.n);
  }
  return demand;
}

}  // namespace

std::vector<Change> find_mlps(const Work& work) {
  // A backward pass reads what lies between: there it has to be written.
  if (work.rates() == nullptr || is_training(work)) return {};
  Grouped found;
  for (const WorkStream& stream : work.streams()) {
    for (std::size_t i = 0; i < stream.items.size(); ++i) {
      const std::vector<const WorkItem*> chain = chain_from(stream.items, i);
      if (chain.empty()) continue;
      Change& change = found.of(names_of(chain), [&] {
        Change made;
        made.title = "One kernel for two products with an activation between, instead of " + names_of(chain);
        made.why = "rows are short enough that what lies between the products never leaves the chip";
        made.assumptions = {
            "nobody else reads what lies between",
            "such a kernel computes at 55 % (40 to 75 %) of the rate of the best products: places where that takes "
            "longer than two kernels stay as they are"};
        made.confidence = Confidence::kSpeculative;  // no library has it
        return made;
      });
      take_over(chain, *chain.back(), {chain.front()}, change).times =
          times_of(demand_of(*chain.front(), *chain.back()), kReached, work);
    }
  }
  return found.take(work, "mlp");
}

}  // namespace swinscope
