#include <algorithm>
#include <optional>
#include <set>

#include "advisor/candidates/candidates.h"

namespace swinscope {
namespace {

constexpr std::size_t kLongest = 24;

bool is_product(const WorkItem& item) { return item.kind == OperationKind::kGemm; }
bool is_set(const WorkItem& item) { return item.kind == OperationKind::kSet; }
// What may lie between the products: scale, bias, mask, softmax, dropout, changes of precision and order, sums of the
// bias's gradient.
bool may_lie_between(const WorkItem& item) {
  return is_pointwise(item.kind) || item.kind == OperationKind::kAttention || item.kind == OperationKind::kReduce ||
         is_set(item);
}
// What puts the inputs into order, or the result.
bool may_lie_beside(const WorkItem& item) {
  return item.kind == OperationKind::kLayout || item.kind == OperationKind::kElementwise ||
         item.kind == OperationKind::kAttention || is_set(item);
}
bool is_softmax(const WorkItem& item) {
  return item.kernel.find("oftmax") != std::string_view::npos || item.kernel.find("oftMax") != std::string_view::npos;
}
bool is_backward(const WorkItem& item) {
  return item.kernel.find("ackward") != std::string_view::npos ||
         (item.operation != nullptr && item.operation->phase == "backward");
}
// By the program's own words, where it has any: "stage1.block1.attn.scores" and "stage1.block1.attn.values".
bool are_of_one_block(const WorkItem& a, const WorkItem& b) {
  if (a.operation == nullptr || b.operation == nullptr) return true;
  const auto block = [](std::string_view path) { return path.substr(0, path.rfind('.')); };
  const std::string_view of_a = a.operation->path;
  const std::string_view of_b = b.operation->path;
  return of_a.starts_with("aten::") || of_a.starts_with(block(of_b)) || of_b.starts_with(block(of_a));
}

// The work of one attention around the softmax at `middle`; empty: it is none.
struct Place {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool is_any() const { return end > begin; }
};

Place place_around(const std::vector<WorkItem>& items, std::size_t middle, std::size_t not_before) {
  const std::size_t products = is_backward(items[middle]) ? 2 : 1;  // on each side
  std::size_t begin = middle;
  std::size_t found = 0;
  while (begin > not_before && !items[begin].is_split && middle - begin < kLongest) {
    const WorkItem& before = items[begin - 1];
    if (!are_of_one_block(before, items[middle])) break;
    if (is_product(before) && found < products) {
      ++found;
    } else if (!(found == 0 ? may_lie_between(before) : may_lie_beside(before))) {
      break;
    }
    --begin;
  }
  if (found == 0) return {};
  std::size_t end = middle + 1;
  found = 0;
  while (end < items.size() && !items[end].is_split && end - middle < kLongest) {
    const WorkItem& next = items[end];
    if (!are_of_one_block(next, items[middle])) break;
    if (is_product(next) && found < products) {
      ++found;
    } else if (!(found == 0 ? may_lie_between(next) : may_lie_beside(next))) {
      break;
    }
    ++end;
  }
  return found == 0 ? Place{} : Place{begin, end};
}

// Of the chain's products: what they read and write beside the scores, as values; and their work. Nothing where their
// shapes are not known.
struct Demand {
  double values = 0;
  double flops = 0;
  std::string_view precision;
};

std::optional<Demand> demand_of(const std::vector<const WorkItem*>& chain) {
  Demand demand;
  std::set<const Operation*> seen;  // what is known of one with several products is of all of them
  for (const WorkItem* item : chain) {
    if (!is_product(*item)) continue;
    if (item->operation == nullptr) return std::nullopt;
    if (item->what == item->operation->what && !seen.insert(item->operation).second) continue;
    const std::optional<ProductShape> shape = product_of(*item->what);
    if (!shape) return std::nullopt;
    const auto batch = static_cast<double>(shape->batch);
    const auto m = static_cast<double>(shape->m);
    const auto n = static_cast<double>(shape->n);
    const auto k = static_cast<double>(shape->k);
    // The scores are the largest of the three: there are more tokens than channels of a head.
    demand.values += batch * (m * k + n * k + m * n - std::max({m * k, n * k, m * n}));
    demand.flops += 2 * batch * m * n * k;
    demand.precision = item->precision;
  }
  return demand;
}

// A kernel that moves these at the rates of copies, or computes at those of products, whichever takes longer.
std::array<double, 3> fused_ns(const Work& work, const Demand& demand, std::string_view precision) {
  constexpr std::array kOfCopies = {0.45, 0.65, 0.9};  // by Estimate
  constexpr std::array kOfProducts = {0.25, 0.5, 0.8};
  const double bytes_ns = work.bytes_ns(demand.values * (precision == "fp32" || precision == "tf32" ? 4 : 2));
  const double product_rate = work.rates()->best_product_rate(precision).value_or(0);
  std::array<double, 3> ns{};
  for (std::size_t i = 0; i < ns.size(); ++i) {
    ns[i] = bytes_ns / kOfCopies[i];
    if (product_rate > 0) ns[i] = std::max(ns[i], demand.flops / product_rate / kOfProducts[i]);
  }
  return ns;
}

// Libraries' fused kernels gain nothing where a block of theirs has few tokens (tests/peers/advisor: windows of 49).
bool is_too_short_for_libraries(const Work& work, const WorkItem& scores) {
  constexpr std::int64_t kFewTokens = 64;
  const RankOperations& operations = work.run.operations()[work.graph.ranks[scores.ref.rank].rank_index];
  if (!operations.are_torch_profile() || scores.what == nullptr) return false;
  const std::optional<ProductShape> shape = product_of(*scores.what);
  return shape && shape->m < kFewTokens;
}

void set_time(const Work& work, const std::vector<const WorkItem*>& chain, Scaled& place) {
  const std::optional<Demand> demand = work.rates() == nullptr ? std::nullopt : demand_of(chain);
  const auto first = std::ranges::find_if(chain, [](const WorkItem* item) { return is_product(*item); });
  if (is_too_short_for_libraries(work, **first)) {
    place.factor = {1, 0.9, 0.25};
    place.share = {1, 0.9, 0.1};
    return;
  }
  if (demand) {
    const bool is_wide = demand->precision == "fp32" || demand->precision == "tf32";
    place.times = NewTimes{fused_ns(work, *demand, demand->precision),
                           fused_ns(work, *demand, is_wide ? "fp16" : demand->precision)};
    return;
  }
  double products_ns = 0;
  for (const WorkItem* item : chain)
    if (is_product(*item)) products_ns += static_cast<double>(item->duration_ns);
  const double products = products_ns / static_cast<double>(std::max<std::int64_t>(1, (*first)->duration_ns));
  place.factor = {products, 0.5 * products, 0.25 * products};
}

}  // namespace

std::vector<Change> find_attention(const Work& work) {
  Grouped found;
  for (const WorkStream& stream : work.streams()) {
    const std::vector<WorkItem>& items = stream.items;
    std::size_t not_before = 0;
    for (std::size_t middle = 0; middle < items.size(); ++middle) {
      if (!is_softmax(items[middle])) continue;
      const Place place = place_around(items, middle, not_before);
      if (!place.is_any()) continue;
      std::vector<const WorkItem*> chain;
      for (std::size_t i = place.begin; i < place.end; ++i)
        chain.push_back(&items[i]);
      const auto first = std::ranges::find_if(chain, [](const WorkItem* item) { return is_product(*item); });
      if (first == chain.end()) continue;  // there is one: places have products on both sides
      const bool backward = is_backward(items[middle]);
      Change& change = found.of(names_of(chain), [&] {
        Change made;
        made.title = (backward ? "One kernel for attention's backward pass instead of "
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
      set_time(work, chain, add_place(chain, **first, change));
      not_before = place.end;
      middle = place.end - 1;
    }
  }
  return found.take(work, "attention");
}

}  // namespace swinscope
