#include "analyzer/analyses/range_nodes.h"

#include <algorithm>

namespace swinscope {

void RangeSums::add_call(std::int64_t call_ns, std::int64_t call_self_ns) {
  ++calls;
  host_ns += call_ns;
  host_min_ns = std::min(host_min_ns, call_ns);
  host_max_ns = std::max(host_max_ns, call_ns);
  self_ns += call_self_ns;
}

void RangeSums::add(const GpuWork& work) {
  gpu_events += work.events;
  gpu_sum_ns += work.total_ns;
  gpu_span_ns += work.span_ns();
}

void RangeSums::merge(const RangeSums& other, bool is_within) {
  calls += other.calls;
  self_ns += other.self_ns;
  host_min_ns = std::min(host_min_ns, other.host_min_ns);
  host_max_ns = std::max(host_max_ns, other.host_max_ns);
  if (is_within) return;
  host_ns += other.host_ns;
  gpu_events += other.gpu_events;
  gpu_sum_ns += other.gpu_sum_ns;
  gpu_span_ns += other.gpu_span_ns;
}

std::size_t RangeNodes::Hash::operator()(const RangeNode& node) const {
  constexpr std::uint64_t kOdd = 0x9E37'79B9'7F4A'7C15;
  std::uint64_t hash = (std::uint64_t{node.parent} << 32U | node.name) * kOdd;
  hash ^= hash >> 29U;
  hash = (hash + (std::uint64_t{node.domain} << 2U) + static_cast<std::uint64_t>(node.style)) * kOdd;
  return hash ^ hash >> 32U;
}

std::uint32_t RangeNodes::child(const RangeNode& node) {
  const auto [entry, is_new] = ids_.try_emplace(node, size());
  if (is_new) nodes_.push_back(node);
  return entry->second;
}

std::vector<std::uint32_t> RangeNodes::in_order() const {
  // Children were made after their parents, so that sizes of subtrees add up from behind and places from the front.
  std::vector<std::uint32_t> below(size(), 1);
  for (std::uint32_t id = size(); id-- > 1;)
    below[nodes_[id].parent] += below[id];
  std::vector<std::uint32_t> next(size(), 0);  // where a node's next child goes
  std::vector<std::uint32_t> order(size() - 1);
  for (std::uint32_t id = 1; id < size(); ++id) {
    const std::uint32_t place = next[nodes_[id].parent];
    order[place] = id;
    next[nodes_[id].parent] += below[id];
    next[id] = place + 1;
  }
  return order;
}

}  // namespace swinscope
