#include "analyzer/graph_nodes.h"

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
    origin = NodeOrigin{found->time_ns, found->global_tid};
    node = found->original;
  }
  return origin;
}

}  // namespace swinscope
