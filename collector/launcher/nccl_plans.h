// Which kernel carried out which of NCCL's plans: the work of one launch, as its profiler plugin tells of it. The
// plugin knows nothing of CUDA's numbers, so they are joined by threads and times. What is not certain is not joined.
//
//   a launch     has the one kernel, or the one node of a graph, that was launched or captured on its thread while it
//                took its time;
//   outside graphs   the plans of a call group (a call, or what stands between ncclGroupStart and ncclGroupEnd) are
//   those
//                of its launches in their order, in each communicator, when there are as many;
//   in a graph   NCCL hands a plan over anew before each replay: those of a call group are dealt to its launches in
//   turn.
//                A plan has the one kernel of its node between its begin and that of the node's next plan, since a
//                graph does not overlap itself; of a graph that was instantiated twice nobody knows;
//   before NCCL 2.28 there are neither launches nor call groups: a plan follows its launch at once, on the same thread,
//                and has the one kernel that was launched there since the plan before. In graphs none is joined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace swinscope {

struct NcclPlan {
  std::int64_t global_tid = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t communicator = 0;
  std::int64_t call_group = 0;  // 0: unknown
  bool is_captured = false;
};

struct PlanLaunch {
  std::int64_t global_tid = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t communicator = 0;
  std::int64_t call_group = 0;
};

struct PlanKernel {
  std::int64_t global_tid = 0;  // of its launch, or of the capture of its node
  std::int64_t caused_ns = 0;   // the same
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t origin = 0;      // the node as it was captured; 0: not in a graph
  std::int64_t graph_node = 0;  // as it was instantiated
  std::int64_t correlation = 0;
  std::int64_t global_pid = 0;
};

// For each plan its kernel, by index, or nothing. All three may come in any order.
std::vector<std::optional<std::size_t>> join_plans(const std::vector<NcclPlan>& plans,
                                                   const std::vector<PlanLaunch>& launches,
                                                   const std::vector<PlanKernel>& kernels);

}  // namespace swinscope
