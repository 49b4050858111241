// Speedup and efficiency of measured points (METRICS "Scaling").
//
// S = T_base / T_p for the same number of images: with W images a step, S = (W_p / W_base) x (t_base / t_p), t the step
// times. Where images are not known, the mode tells W_p / W_base: strong scaling keeps the images of a step, weak
// scaling those of a GPU. In a sweep over other factors nothing tells, and there is no speedup.
//
// Images a step, the first that is known:
//   1. images_per_step of the experiment, at the first point; at another one as many times as many as its ranks x batch
//      are those of the first point (strong scaling divides the batch, so that they stay);
//   2. images_per_gpu x ranks;
//   3. what the step ranges' payload says;
//   4. batch x ranks, where a factor is the batch of a rank (is_batch).
//
// Confidence interval, by the delta method, of the 95 % half widths h (Student's t, of the repeats) of both step times:
//   h_S = S x sqrt((h_base / t_base)^2 + (h_p / t_p)^2),   h_E = h_S / p.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/experiment/experiment.h"
#include "analyzer/table/table.h"

namespace swinscope {

// Whether a factor of this name is the images of a rank in a step: batch, batch_size, batch_per_gpu, bs.
bool is_batch(std::string_view factor);

// Images, training time, speedup, efficiency and their intervals of points whose step times are there, ordered by GPUs.
void add_scaling(const Experiment& experiment, std::vector<ScalingRow>& rows);

Table scaling_rows_table(const std::vector<ScalingRow>& rows);
// What the numbers of that table's column "gpus" count, its title: "GPUs", or "ranks" where no GPU was used.
std::string_view counted_in(const Table& scaling_rows);

}  // namespace swinscope
