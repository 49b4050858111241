#include <fmt/format.h>

#include "workloads/cuda/memory_fit.h"
#include "workloads/cuda/training_plan.h"
#include "workloads/error.h"

namespace swinscope {

std::int64_t training_memory_need(const SwinConfig& config, const DeviceTrainerOptions& options, std::int64_t batch) {
  const TrainingPlan plan(config, options, batch);
  // Products and convolutions are timed on operands and results of their own, of which none is larger than this.
  constexpr std::int64_t kTimedOperands = 3;
  return plan.bytes() + kTimedOperands * plan.largest_bytes() + kDeviceReserve;
}

void check_training_memory(const SwinConfig& config, const DeviceTrainerOptions& options, std::int64_t free_bytes) {
  const auto need = [&](std::int64_t batch) { return training_memory_need(config, options, batch); };
  const std::int64_t batch = options.trainer.batch_per_rank;
  if (need(batch) <= free_bytes) return;
  const std::int64_t fits = largest_fitting_batch(batch, need, free_bytes);
  std::string hint = "not even one image fits: end what else uses the GPU";
  if (fits > 0) {
    hint = fmt::format("--batch-per-gpu {} fits; --accumulate adds up the gradients of several batches", fits);
    if (!options.recompute) hint += "; --recompute trades activations for time";
  }
  throw WorkloadError(WorkloadErrorKind::kUsage,
                      fmt::format("--batch-per-gpu {}: does not fit into the GPU's memory", batch),
                      fmt::format("training {} needs about {:.1f} GiB for it and {:.1f} GiB are free", config.name,
                                  gibibytes(need(batch)), gibibytes(free_bytes)),
                      hint);
}

}  // namespace swinscope
