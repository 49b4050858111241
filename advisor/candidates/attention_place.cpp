#include "advisor/candidates/attention_place.h"

#include <algorithm>
#include <set>

#include "advisor/candidates/candidates.h"

namespace swinscope {
namespace {

constexpr std::size_t kLongest = 24;

bool is_set(const WorkItem& item) { return item.kind == OperationKind::kSet || item.is_part; }
// What may lie between the products: scale, bias, mask, softmax, dropout, changes of precision and order, sums of the
// bias's gradient.
bool may_lie_between(const WorkItem& item) {
  return is_pointwise(item.kind) || item.kind == OperationKind::kAttention || item.kind == OperationKind::kReduce ||
         is_set(item);
}
// What puts the result into order.
bool may_lie_behind(const WorkItem& item) {
  return item.kind == OperationKind::kLayout || item.kind == OperationKind::kElementwise ||
         item.kind == OperationKind::kAttention || is_set(item);
}
// The inputs, too: queries and keys may be normalized.
bool may_lie_before(const WorkItem& item) { return may_lie_behind(item) || item.kind == OperationKind::kNorm; }
bool is_softmax(const WorkItem& item) {
  return item.kernel.find("oftmax") != std::string_view::npos || item.kernel.find("oftMax") != std::string_view::npos;
}
bool is_backward(const WorkItem& item) {
  return item.kernel.find("ackward") != std::string_view::npos ||
         (item.operation != nullptr && item.operation->phase == "backward");
}

// Around the softmax at `middle`; empty: it is none.
AttentionPlace place_around(const std::vector<WorkItem>& items, std::size_t middle, std::size_t not_before) {
  const bool backward = is_backward(items[middle]);
  const std::size_t products = backward ? 2 : 1;  // on each side
  std::size_t begin = middle;
  std::size_t found = 0;
  while (begin > not_before && !items[begin].is_split && middle - begin < kLongest) {
    const WorkItem& before = items[begin - 1];
    if (!are_of_one_block(before, items[middle])) break;
    if (is_product(before) && found < products) {
      ++found;
    } else if (!(found == 0 ? may_lie_between(before) : may_lie_before(before))) {
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
    } else if (!(found == 0 ? may_lie_between(next) : may_lie_behind(next))) {
      break;
    }
    ++end;
  }
  return found == 0 ? AttentionPlace{} : AttentionPlace{begin, end, backward};
}

}  // namespace

bool are_of_one_block(const WorkItem& a, const WorkItem& b) {
  if (a.operation == nullptr || b.operation == nullptr) return true;
  const auto block = [](std::string_view path) { return path.substr(0, path.rfind('.')); };
  const std::string_view of_a = a.operation->path;
  const std::string_view of_b = b.operation->path;
  return of_a.starts_with("aten::") || of_a.starts_with(block(of_b)) || of_b.starts_with(block(of_a));
}

std::vector<AttentionPlace> attention_places(const std::vector<WorkItem>& items) {
  std::vector<AttentionPlace> places;
  std::size_t not_before = 0;
  for (std::size_t middle = 0; middle < items.size(); ++middle) {
    if (!is_softmax(items[middle])) continue;
    const AttentionPlace place = place_around(items, middle, not_before);
    if (place.begin == place.end) continue;
    places.push_back(place);
    not_before = place.end;
    middle = place.end - 1;
  }
  return places;
}

std::optional<ProductDemand> attention_demand(const std::vector<const WorkItem*>& chain) {
  ProductDemand demand;
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

}  // namespace swinscope
