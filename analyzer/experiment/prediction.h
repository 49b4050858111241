// The step on numbers of GPUs that were not measured, part by part of what the largest measured number loses
// (scaling_loss.h).
//
// A part that is x on p GPUs is x g(N) / g(p) on N, with
//   g = r(N) = 2 (N - 1) / N   for what is transferred: the traffic of a ring all-reduce,
//   g = m(N)                   for waiting: the expected largest of N standard normal values, by which the slowest of N
//                              ranks is behind the mean,
//   g = 1                      for the rest, what GPUs and hosts do beside the others whatever their number.
// What is slowed beside communication, summed up or copied may grow with the traffic, and waiting for data with the
// ranks of a host: they are taken to stay, and the band reaches up to that. The band's lower end is a loss that stays;
// both ends are widened by the 95 % intervals of the measured steps, of 1 % where a point has one run.
// Where another program was measured on the GPUs in question, the loss may be its, part by part by what the two steps
// have to do (likeness.h): from one GPU alone. The band then reaches over what any of the three ratios makes of it all.
// Beyond the GPUs of a host the network decides, which was not measured: the step is then a lower bound.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/experiment/experiment.h"
#include "analyzer/experiment/likeness.h"
#include "analyzer/experiment/scaling_loss.h"
#include "analyzer/table/render.h"

namespace swinscope {

struct PredictedStep {
  int gpus = 0;
  std::size_t from = 0;  // the measured row that it is predicted from
  std::int64_t step_ns = 0;
  std::int64_t low_ns = 0;
  std::int64_t high_ns = 0;
  bool has_parts = false;  // else the point was not traced, and its loss is one part
  std::array<std::int64_t, kLossParts> part_ns{};
  bool is_beyond_host = false;              // low_ns is all that is known
  std::optional<std::int64_t> measured_ns;  // of a number that was measured, predicted from the smaller ones alone
};

// Expected largest of N independent standard normal values; 0 for one.
double expected_largest(int count);

// Another program's experiment, from whose losses this one's are predicted.
struct LikeExperiment {
  std::string name;
  std::vector<ScalingRow> rows;
};

// Nothing where fewer than two numbers of GPUs below `gpus` were measured, or how much work they do is not known.
std::optional<PredictedStep> predict_step(const std::vector<ScalingRow>& rows, int gpus, int gpus_per_host);
// By the largest number of GPUs up to `gpus` of the other one whose loss is known. Throws as likeness().
std::optional<PredictedStep> predict_step_like(const std::vector<ScalingRow>& rows, const std::vector<ScalingRow>& like,
                                               int gpus, int gpus_per_host);

struct PredictOptions {
  std::vector<int> gpus;
  int gpus_per_host = 8;
  GpuPrice price;  // adds what the training costs
  std::optional<LikeExperiment> like;
};

// Predictions, with those of measured numbers of GPUs from smaller ones beside what was measured. Throws Error(kUsage)
// where nothing can be predicted, saying what to measure.
Document prediction_document(const Experiment& experiment, const std::vector<ScalingRow>& rows,
                             const PredictOptions& options);

}  // namespace swinscope
