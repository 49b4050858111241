// What `swin train` prints at its end.
#pragma once

#include "workloads/program/train_options.h"
#include "workloads/rank_info.h"

namespace swinscope {

void print_train_summary(const TrainOptions& options, const SwinConfig& config, const RankInfo& rank, int threads,
                         const TrainResult& result);

}  // namespace swinscope
