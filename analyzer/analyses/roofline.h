// How long the layers of a run would take at least by the roofs of their GPU, the vendor's rate of products in their
// precision and its memory's bandwidth (gpu_peaks.h), and how much longer they take.
//
//   least time = max(FLOPs / rate of the precision, bytes / bandwidth), of roof = least time / GPU time
//   intensity  = FLOPs / bytes; below rate / bandwidth of its precision the memory is the roof
// FLOPs and bytes are what the operations need: each operand moved once. Above its roof (more than all of it) is a
// layer whose bytes came from a cache, or whose figures are wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/analyses/run_facts.h"
#include "analyzer/table/table.h"

namespace swinscope {

struct Roof {
  std::string name;         // a precision, or "memory"
  double flop_per_ns = 0;   // of products in the precision
  double bytes_per_ns = 0;  // of the memory
};

struct RooflinePoint {
  std::string path;
  std::string phase;
  std::string operation;
  std::string precision;
  std::int64_t gpu_ns = 0;  // summed duration of its GPU events
  std::int64_t steps = 0;   // of the scope, over ranks; 0 where it is the whole trace
  std::int64_t flops = 0;
  std::int64_t bytes = 0;
  double least_ns = 0;
  std::string roof;           // whose the least time is
  bool is_estimated = false;  // by the shapes of PyTorch's operators

  // Nothing where there are no FLOPs, or no bytes.
  std::optional<double> intensity() const;
  double flop_per_ns() const { return static_cast<double>(flops) / static_cast<double>(gpu_ns); }
  double share() const { return least_ns / static_cast<double>(gpu_ns); }
  bool is_above() const { return share() > 1; }
  double over_ns() const { return static_cast<double>(gpu_ns) - least_ns; }  // negative above the roof
};

struct Roofline {
  std::vector<Roof> roofs;            // the memory first, then precisions that a point has, fastest first
  std::vector<RooflinePoint> points;  // by the time over the roof, longest first
  std::int64_t other_gpu_ns = 0;      // of layers without cost, or whose roof is not known
};

// Of the scope; empty where no layer's cost is known, or the GPUs' figures are not.
Roofline roofline(const RunFacts& run);

// What the layers take over their roofs together, and which the most; not of no points.
std::string roofline_verdict(const Roofline& roofline, const RunScope& scope);
Table roofline_table(const RunFacts& run);
Table roofs_table(const RunFacts& run);

}  // namespace swinscope
