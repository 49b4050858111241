#include <algorithm>
#include <optional>

#include "advisor/candidates/attention_place.h"
#include "advisor/candidates/candidates.h"

namespace swinscope {
namespace {

constexpr Reached kReached = {{0.45, 0.65, 0.9}, {0.25, 0.5, 0.8}};

// Libraries' fused kernels gain nothing where a block of theirs has few tokens (tests/peers/advisor: windows of 49).
bool is_too_short_for_libraries(const Work& work, const WorkItem& scores) {
  constexpr std::int64_t kFewTokens = 64;
  const RankOperations& operations = work.run.operations()[work.graph.ranks[scores.ref.rank].rank_index];
  if (!operations.are_torch_profile() || scores.what == nullptr) return false;
  const std::optional<ProductShape> shape = product_of(*scores.what);
  return shape && shape->m < kFewTokens;
}

void set_time(const Work& work, const std::vector<const WorkItem*>& chain, const WorkItem& first, Scaled& place) {
  if (is_too_short_for_libraries(work, first)) {
    place.factor = {1, 0.9, 0.25};
    place.share = {1, 0.9, 0.1};
    return;
  }
  if (work.rates() != nullptr) {
    if (const std::optional<ProductDemand> demand = attention_demand(chain)) {
      place.times = times_of(*demand, kReached, work);
      return;
    }
  }
  double products_ns = 0;
  for (const WorkItem* item : chain)
    if (is_product(*item)) products_ns += static_cast<double>(item->duration_ns);
  const double products = products_ns / static_cast<double>(std::max<std::int64_t>(1, first.duration_ns));
  place.factor = {products, 0.5 * products, 0.25 * products};
}

}  // namespace

std::vector<Change> find_attention(const Work& work) {
  Grouped found;
  for (const WorkStream& stream : work.streams()) {
    for (const AttentionPlace& place : attention_places(stream.items)) {
      std::vector<const WorkItem*> chain;
      for (std::size_t i = place.begin; i < place.end; ++i)
        chain.push_back(&stream.items[i]);
      const WorkItem& first = **std::ranges::find_if(chain, [](const WorkItem* item) { return is_product(*item); });
      Change& change = found.of(names_of(chain), [&] {
        Change made;
        made.title = (place.is_backward ? "One kernel for attention's backward pass instead of "
                                        : "One kernel for attention instead of ") +
                     names_of(chain);
        made.why =
            "the scores are written and read several times between products; a fused kernel keeps them on the chip, "
            "and reads its inputs where they lie";
        made.assumptions = {
            "the softmax is of the product before it, the product after it reads the result",
            "the fused kernel moves its inputs and results at 65 % (45 to 90 %) of the rate of copies, "
            "or computes at half (25 to 80 %) of that of the best products; where shapes or rates are "
            "not known, it takes half (a quarter to all) of the products' time",
            "PyTorch's fused kernels save a tenth (nothing to all of that) where a window has fewer than 64 "
            "tokens"};
        return made;
      });
      set_time(work, chain, first, add_place(chain, first, change));
    }
  }
  return found.take(work, "attention");
}

}  // namespace swinscope
