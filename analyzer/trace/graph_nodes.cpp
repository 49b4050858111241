#include "analyzer/trace/graph_nodes.h"

#include <algorithm>

namespace swinscope {

std::optional<NodeOrigin> node_origin(const std::vector<GraphNodeRecord>& by_node, std::uint64_t node) {
  // Copies of copies are rare; a damaged file may go round in circles.
  constexpr int kMaxCopies = 16;
  std::optional<NodeOrigin> origin;
  for (int i = 0; i < kMaxCopies && node != 0; ++i) {
    const auto found = std::lower_bound(by_node.begin(), by_node.end(), node,
                                        [](const GraphNodeRecord& r, std::uint64_t id) { return r.node < id; });
    if (found == by_node.end() || found->node != node) break;
    // A graph's instance reports each of its nodes twice: as new, then as a copy.
    auto copy = found;
    while (copy != by_node.end() && copy->node == node && copy->original == 0)
      ++copy;
    const GraphNodeRecord& record = copy != by_node.end() && copy->node == node ? *copy : *found;
    origin = NodeOrigin{record.time_ns, record.global_tid};
    node = record.original;
  }
  return origin;
}

}  // namespace swinscope
