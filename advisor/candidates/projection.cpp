#include <algorithm>
#include <optional>

#include "advisor/candidates/attention_place.h"
#include "advisor/candidates/candidates.h"

namespace swinscope {
namespace {

constexpr Reached kReached = {{0.45, 0.65, 0.9}, {0.2, 0.33, 0.55}};

// The product whose result the attention reads: queries, keys and values of all its tokens at once.
const WorkItem* projection_before(const std::vector<WorkItem>& items, const AttentionPlace& place) {
  if (place.begin == 0 || items[place.begin].is_split) return nullptr;
  std::size_t last = place.begin - 1;
  while (last > 0 && items[last].is_part)
    --last;
  const WorkItem& before = items[last];
  const std::optional<ProductShape> shape = single_product(before);
  if (!shape || shape->n != 3 * shape->k || !are_of_one_block(before, items[place.begin])) return nullptr;
  return &before;
}

// It reads the tokens and writes as many, which are a third of what the attention alone reads.
ProductDemand with(const WorkItem& projection, ProductDemand attention) {
  const ProductShape shape = *single_product(projection);
  attention.values = 2 * static_cast<double>(shape.m) * static_cast<double>(shape.k);
  attention.flops += 2 * static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
  return attention;
}

}  // namespace

std::vector<Change> find_projections(const Work& work) {
  // A backward pass reads queries, keys and values: there they have to be written.
  if (work.rates() == nullptr || is_training(work)) return {};
  Grouped found;
  for (const WorkStream& stream : work.streams()) {
    for (const AttentionPlace& place : attention_places(stream.items)) {
      const WorkItem* projection = projection_before(stream.items, place);
      if (projection == nullptr) continue;
      std::vector<const WorkItem*> chain;
      for (std::size_t i = place.begin; i < place.end; ++i)
        chain.push_back(&stream.items[i]);
      const std::optional<ProductDemand> demand = attention_demand(chain);
      if (!demand) continue;
      const WorkItem& first = **std::ranges::find_if(chain, [](const WorkItem* item) { return is_product(*item); });
      chain.insert(chain.begin(), projection);
      Change& change = found.of(names_of(chain), [&] {
        Change made;
        made.title = "One kernel for attention and the product of its inputs, instead of " + names_of(chain);
        made.why = "a block of tokens is read once, and its queries, keys and values never leave the chip";
        made.assumptions = {
            "the rows of a window and the weights of a head fit on the chip together",
            "such a kernel computes at a third (20 to 55 %) of the rate of the best products: places where that takes "
            "longer than two kernels stay as they are"};
        made.confidence = Confidence::kSpeculative;  // no library has it
        return made;
      });
      take_over(chain, first, {projection}, change).times = times_of(with(*projection, *demand), kReached, work);
    }
  }
  return found.take(work, "projection");
}

}  // namespace swinscope
