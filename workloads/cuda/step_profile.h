// How long each operation of a pass takes, measured where it stands: events between the steps, within one graph.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "workloads/cuda/device_model.h"

namespace swinscope {

// "stage3.mlp.fc1" of "stage3.block5.mlp.fc1".
std::string without_block(const std::string& path);

// Operations of the same name in all blocks of a stage: "stage3.mlp.fc1".
struct OperationTime {
  std::string name;
  std::int64_t calls = 0;
  double time_ns = 0.0;    // sum over the calls of one pass, each the median over passes
  std::int64_t flops = 0;  // sums, as annotated
  std::int64_t bytes = 0;
};

// That programs report: enough for a median.
inline constexpr std::int64_t kProfiledPasses = 7;

// Longest first. Each event costs about a microsecond, so the sum exceeds the time of an undisturbed pass.
std::vector<OperationTime> profile_steps(std::span<const DeviceStep> steps, cuda::Stream stream, std::int64_t passes);

// Milliseconds of the steps as a graph, the best of a few rounds.
double time_as_graph(std::span<const DeviceStep> steps, cuda::Stream stream);

}  // namespace swinscope
