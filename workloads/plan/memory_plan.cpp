#include "workloads/plan/memory_plan.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace swinscope {
namespace {

constexpr int kForEver = std::numeric_limits<int>::max();

// One or several tensors, one after another in the same place.
struct Place {
  int begin = kForEver;  // numbers of ops
  int end = -1;
  std::int64_t bytes = 0;
  std::int64_t offset = -1;

  bool meets(const Place& other) const { return begin <= other.end && other.begin <= end; }
};

// The inputs whose memory the first output may take, by what kernels/ says of each operation.
std::vector<std::size_t> overwritable(const Op& op) {
  switch (op.kind) {
    case OpKind::kLayerNorm:
      if (op.gather) return {};
      if (op.to_bytes && op.input(3) == kNoTensor) return {};  // rows of half the bytes would lie in others' place
      return op.backward ? std::vector<std::size_t>{5, 4} : std::vector<std::size_t>{3, 0};
    case OpKind::kGelu:
    case OpKind::kRelu:
    case OpKind::kBatchNorm:
    case OpKind::kBias:
      return {op.backward ? gradient_index(op) : 0};
    case OpKind::kResidual:
      return op.backward ? std::vector<std::size_t>{1} : std::vector<std::size_t>{0, 1};
    case OpKind::kAdd:
    case OpKind::kResidualNorm:
      return {0, 1};
    case OpKind::kLinear:
    case OpKind::kQuantizedLinear:
      return {3};
    case OpKind::kNarrowMlp:
      return {0};
    case OpKind::kNarrowBlockEnd:
      return {3};
    case OpKind::kResize:
      return {1};
    case OpKind::kGridPool:
      return op.backward ? std::vector<std::size_t>{1} : std::vector<std::size_t>{};
    case OpKind::kTapGather:
    case OpKind::kTapFusion:
      return op.backward ? std::vector<std::size_t>{} : std::vector<std::size_t>{0};
    default:
      return {};
  }
}

class Planner {
 public:
  Planner(const Graph& graph, bool constants)
      : graph_(graph), constants_(constants), place_of_(graph.tensors.size()), places_(graph.tensors.size()) {
    std::iota(place_of_.begin(), place_of_.end(), 0);
    for (std::size_t i = 0; i < place_of_.size(); ++i)
      if (is_part(static_cast<TensorId>(i))) place_of_[i] = static_cast<std::size_t>(graph.tensors[i].whole);
    for (const std::vector<Op>* list : {&graph.forward, &graph.backward})
      for (const Op& op : *list)
        ops_.push_back(&op);
    find_lifetimes();
    share();
  }

  MemoryPlan plan() {
    std::vector<Place*> order;
    for (Place& place : places_)
      if (place.end >= 0 && place.bytes > 0) order.push_back(&place);
    std::ranges::stable_sort(order, std::ranges::greater(), &Place::bytes);
    MemoryPlan plan;
    std::vector<const Place*> placed;  // by offset
    for (Place* const place : order) {
      place->offset = lowest_gap(*place, placed);
      placed.insert(std::ranges::upper_bound(placed, place->offset, {}, &Place::offset), place);
      plan.bytes = std::max(plan.bytes, place->offset + place->bytes);
    }
    for (const std::size_t place : place_of_)
      plan.offsets.push_back(places_[place].offset);
    return plan;
  }

 private:
  bool is_planned(TensorId id) const {
    if (id == kNoTensor) return false;
    const TensorRole role = graph_.at(id).role;
    return role == TensorRole::kActivation || role == TensorRole::kOutput ||
           (constants_ && role == TensorRole::kConstant);
  }
  bool is_part(TensorId id) const { return graph_.at(id).whole != kNoTensor; }
  Place& place(TensorId id) { return places_[place_of_[static_cast<std::size_t>(id)]]; }

  void find_lifetimes() {
    const auto use = [this](TensorId id, int number) {
      if (!is_planned(id)) return;
      const GraphTensor& tensor = graph_.at(is_part(id) ? graph_.at(id).whole : id);
      Place& place = this->place(id);
      place.bytes = (tensor.bytes() + MemoryPlan::kAlignment - 1) / MemoryPlan::kAlignment * MemoryPlan::kAlignment;
      place.begin = tensor.role == TensorRole::kConstant ? -1 : std::min(place.begin, number);
      place.end = tensor.role == TensorRole::kActivation ? std::max(place.end, number) : kForEver;
    };
    for (const Op& op : graph_.once)
      for (const TensorId id : op.out)
        use(id, -1);
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      for (const TensorId id : ops_[i]->in)
        use(id, static_cast<int>(i));
      for (const TensorId id : ops_[i]->out)
        use(id, static_cast<int>(i));
    }
  }

  // Lets outputs take the places of inputs that end where they begin.
  void share() {
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      const TensorId out = ops_[i]->out[0];
      if (!is_planned(out) || is_part(out)) continue;
      const auto number = static_cast<int>(i);
      for (const std::size_t index : overwritable(*ops_[i])) {
        const TensorId in = ops_[i]->input(index);
        if (!is_planned(in) || is_part(in) || graph_.at(in).type != graph_.at(out).type) continue;
        Place& from = place(in);
        Place& to = place(out);
        if (&from == &to || from.end != number || to.begin != number || from.bytes != to.bytes) continue;
        from.end = to.end;
        to.end = -1;
        place_of_[static_cast<std::size_t>(out)] = place_of_[static_cast<std::size_t>(in)];
        break;
      }
    }
  }

  static std::int64_t lowest_gap(const Place& wanted, const std::vector<const Place*>& placed) {
    std::int64_t offset = 0;
    for (const Place* const other : placed) {
      if (!wanted.meets(*other)) continue;
      if (other->offset - offset >= wanted.bytes) break;
      offset = std::max(offset, other->offset + other->bytes);
    }
    return offset;
  }

  const Graph& graph_;
  bool constants_;
  std::vector<const Op*> ops_;
  std::vector<std::size_t> place_of_;  // by tensor
  std::vector<Place> places_;
};

}  // namespace

MemoryPlan plan_memory(const Graph& graph, bool constants) { return Planner(graph, constants).plan(); }

}  // namespace swinscope
