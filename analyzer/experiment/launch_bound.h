// From which batch on the GPU, and no longer the host that launches, decides how long a step takes: METRICS "SKIP"
// (arXiv 2504.11750). TKLQT of a point = sum over the kernels of its traced run of (kernel start - start of the
// launching call), per step and rank. While the host is slower than the GPU a kernel starts as soon as it is launched,
// and TKLQT is flat; once the GPU is slower kernels queue, and it grows. The transition lies between the largest batch
// with a flat TKLQT (at most kFlat times that of the smallest batch) and the next, from which on none is flat.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/experiment/experiment.h"
#include "analyzer/table/table.h"

namespace swinscope {

inline constexpr double kFlat = 2;

// Points that differ in the batch alone, by batch; all with launches in their traced runs, at least two.
struct BatchSweep {
  std::vector<std::size_t> rows;
  std::vector<double> batch;
  std::size_t gpu_bound = 0;  // the first of them that is; as many as there are where TKLQT stays flat
};
std::vector<BatchSweep> batch_sweeps(const std::vector<ScalingRow>& rows);

// A row for each of their points. `names`: of the points.
Table launch_bound_table(const std::vector<ScalingRow>& rows, const std::vector<std::string>& names);
// "CPU-bound up to batch 8, GPU-bound from batch 16 on: total launch+queue time per step grows from 1.2 ms to 40 ms",
// of the first sweep; empty without any.
std::string launch_bound_sentence(const std::vector<ScalingRow>& rows);

}  // namespace swinscope
