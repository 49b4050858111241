// A change of a program that the advisor proposes, as an edit of the dependency graph: what of the work takes another
// time, what falls away, what is launched as one CUDA graph. Changes are applied together and the whole is replayed:
// savings are never added up.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advisor/graph.h"

namespace swinscope {

// How much a change saves: the three are simulated, and give the ends and the middle of its interval.
enum class Estimate : std::uint8_t { kLeast, kLikely, kMost };
inline constexpr std::array kEstimates = {Estimate::kLeast, Estimate::kLikely, Estimate::kMost};

struct OpRef {
  std::uint32_t rank = 0;  // in DependencyGraph::ranks
  NodeIndex op = kNoNode;
  bool operator==(const OpRef&) const = default;
};

// How long new work takes whose time does not follow from that of the old, by Estimate: with values as wide as they
// were recorded, and half as wide.
struct NewTimes {
  std::array<double, 3> ns = {0, 0, 0};
  std::array<double, 3> halved_ns = {0, 0, 0};
};

// The work takes so many times as long; by Estimate. It may do that of others, too, which fall away with their
// launches, where these launch nothing else: of their time `share` is added. Times are those that earlier changes have
// left.
struct Scaled {
  OpRef op;
  std::array<double, 3> factor = {1, 1, 1};
  std::vector<OpRef> instead_of = {};
  std::array<double, 3> share = {0, 0, 0};
  // Instead of factor and share. A place that would take no less time than it does now stays as it is.
  std::optional<NewTimes> times = {};
  // Falls away, too, where earlier changes have left it; where these have taken `op` and nothing stands in instead_of,
  // the longest of these does the work of those that are left.
  std::vector<OpRef> beside = {};
  bool halves_values = false;  // what it reads and writes is half as wide from now on
  bool is_of_library = false;  // it is a product or convolution, whose launch a library prepares

  std::vector<OpRef> others() const;  // that may fall away: instead_of and beside
};

// A host that takes longer than this from one launch to the next does something else than get to it.
inline constexpr std::int64_t kLongestDispatchNs = 500'000;

// Launches of one thread, with nothing else between them, that become one launch of a CUDA graph.
struct Captured {
  std::uint32_t rank = 0;
  std::vector<NodeIndex> calls = {};  // by begin
  std::int64_t nodes = 0;             // that they launch
  // Calls between these that ask or note something: they fall away.
  std::vector<NodeIndex> left_out = {};
};

// The work starts so much before that before it on its stream has ended, by Estimate; at most half of what that takes.
struct Overlapped {
  OpRef op;
  std::array<double, 3> ns = {0, 0, 0};
};

// The thread does what it does on its way to the call (CallNode::segment_ns) in so many times as long; by Estimate.
struct Hastened {
  std::uint32_t rank = 0;
  NodeIndex call = kNoNode;
  std::array<double, 3> factor = {1, 1, 1};
};

struct CallRef {
  std::uint32_t rank = 0;  // in DependencyGraph::ranks
  NodeIndex call = kNoNode;
};

enum class Confidence : std::uint8_t { kLikely, kPlausible, kSpeculative };
std::string_view confidence_name(Confidence confidence);

struct Change {
  std::string id;     // "fuse-norm-3": what --apply takes, the same for the same trace
  std::string kind;   // "fusion": one of change_kinds()
  std::string title;  // "Fuse layer_norm + copy (312 times a step)"
  std::string why;
  std::vector<std::string> assumptions;
  std::string accuracy;  // what it may do to results; empty: nothing
  Confidence confidence = Confidence::kPlausible;
  std::vector<OpRef> evidence;  // the work that it is about, all of it
  std::vector<Scaled> scaled;
  std::vector<Captured> captured;
  std::vector<Overlapped> overlapped;
  std::vector<Hastened> hastened;
  std::vector<CallRef> without_wait;  // they return before the GPU has done what they waited for
  // The host takes as long to launch a library's work as it does now: the same library computes it. Otherwise that is
  // launched as what no library prepares (LaunchCosts::usual).
  bool keeps_launches = false;
  // Changes with the same words here exclude each other: products have one precision. Empty: it excludes none.
  std::string alternative;

  // All work that falls away.
  std::vector<OpRef> removed() const;
};

// Of the host, for one launch: its call, and the way from the call before it.
struct HostTimes {
  std::int64_t own_ns = 0;
  std::int64_t segment_ns = 0;
};

// What launching costs after a change.
struct LaunchCosts {
  double graph_ns = 0;     // the host's call that launches a CUDA graph
  double per_node_ns = 0;  // of it, for each node
  double gap_ns = 0;       // from one node to the next
  // Of kernels that no library prepares, by DependencyGraph::ranks; nothing: not known.
  std::vector<std::optional<HostTimes>> usual = {};
};

// So much before it does: what of that lies before the end of the one before it takes none of its own time any more.
void start_earlier(OpNode& op, std::int64_t ns);

// The next call of each call's thread; kNoNode: none.
std::vector<NodeIndex> next_calls(const RankGraph& rank);

// Of places whose work an earlier change has taken over, in part or whole, nothing is changed.
void apply(const Change& change, Estimate estimate, const LaunchCosts& costs, DependencyGraph& graph);

}  // namespace swinscope
