// How far does a linear model on pixels come? What it reaches needs no understanding of pictures: a set on which it
// does well shows nothing about a vision model.
//
// Softmax regression on all values of pictures shrunk to kProbeSize x kProbeSize (bicubic), each standardized over the
// training part; AdamW, cosine schedule. The best held-out accuracy over all epochs and weight decays counts, so that
// the figure errs in the linear model's favour.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/images/image_folder.h"

namespace swinscope {

inline constexpr int kProbeSize = 32;

// Pictures as a matrix.
struct ProbeData {
  std::vector<std::uint8_t> values;  // [labels.size(), 3 * kProbeSize * kProbeSize]
  std::vector<std::int32_t> labels;
  std::vector<SkippedPath> skipped;
};
// Uses the CPU operations' threads.
ProbeData load_probe_data(const ImageFolder& folder);

struct ProbeOptions {
  int epochs = 15;
  std::vector<double> weight_decays = {0.0, 1.0, 10.0};
  double learning_rate = 1e-3;
  std::int64_t batch = 256;
};

struct ProbeResult {
  double train_accuracy = 0.0;     // at the end, of the run that held_out_accuracy comes from
  double held_out_accuracy = 0.0;  // the best seen
  double weight_decay = 0.0;       // of that run
  double chance = 0.0;             // share of the held-out part's most frequent class
};
// Throws WorkloadError (kInput) if either part is empty. Deterministic.
ProbeResult run_linear_probe(const ProbeData& train, const ProbeData& held_out, int classes,
                             const ProbeOptions& options = {});

}  // namespace swinscope
