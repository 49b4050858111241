#include "analyzer/trace/launch_calls.h"

#include <algorithm>

namespace swinscope {

bool is_kernel_launch(std::string_view call) {
  if (!call.starts_with("cu") && !call.starts_with("hip")) return false;
  return call.find("LaunchKernel") != std::string_view::npos ||
         call.find("LaunchCooperativeKernel") != std::string_view::npos;
}

bool is_graph_launch(std::string_view call) { return call.find("GraphLaunch") != std::string_view::npos; }

bool is_blocking_call(std::string_view call) {
  for (const std::string_view part : {"StreamSynchronize", "DeviceSynchronize", "EventSynchronize", "CtxSynchronize"}) {
    if (call.find(part) != std::string_view::npos) return true;
  }
  return call.find("Memcpy") != std::string_view::npos && call.find("Async") == std::string_view::npos &&
         call.find("Batch") == std::string_view::npos;
}

std::string_view plain_call_name(std::string_view call) {
  constexpr std::size_t kLeastDigits = 4;  // 3020 to 13000
  const std::size_t last = call.find_last_not_of("0123456789");
  const bool is_version = last != std::string_view::npos && last > 1 && call.substr(last - 1, 2) == "_v" &&
                          call.size() - last > kLeastDigits;
  return is_version ? call.substr(0, last - 1) : call;
}

GraphCaptures::GraphCaptures(const Rank& rank) {
  for (const GraphNodeRecord& node : rank.graph_nodes) {
    if (node.original == 0) nodes_.emplace_back(node.global_tid, node.time_ns);
  }
  std::ranges::sort(nodes_);
}

bool GraphCaptures::has_node_of(std::uint64_t global_tid, std::int64_t start_ns, std::int64_t end_ns) const {
  const auto node = std::ranges::lower_bound(nodes_, std::pair(global_tid, start_ns));
  return node != nodes_.end() && *node <= std::pair(global_tid, end_ns);
}

}  // namespace swinscope
