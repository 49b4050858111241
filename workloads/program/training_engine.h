// What `swin train` trains with: the CPU's trainer or a GPU's. A step may still be under way when the next one begins.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "workloads/checkpoint.h"
#include "workloads/communicator.h"
#include "workloads/evaluator.h"
#include "workloads/process_group.h"
#include "workloads/program/train_options.h"
#include "workloads/safetensors_writer.h"

namespace swinscope {

class TrainingEngine {
 public:
  TrainingEngine() = default;
  virtual ~TrainingEngine() = default;
  TrainingEngine(const TrainingEngine&) = delete;
  TrainingEngine& operator=(const TrainingEngine&) = delete;
  TrainingEngine(TrainingEngine&&) = delete;
  TrainingEngine& operator=(TrainingEngine&&) = delete;

  // Begins a step. `stop`: this rank wants to end; the step's result tells all ranks.
  virtual void step(bool stop) = 0;
  // The steps that have ended since the last call, in order; all that have begun if `wait`.
  virtual std::vector<FinishedStep> finished(bool wait) = 0;
  virtual std::int64_t global_batch() const = 0;
  // No step may be under way for the following.
  virtual Evaluation evaluate(TrainingData& data, std::int64_t images) = 0;
  // On the leading rank. Throws as write_checkpoint().
  virtual void save(const std::filesystem::path& folder, const std::map<std::string, std::string>& settings) = 0;
  // The last step's gradients under the parameters' names, before clipping, as a safetensors file; of segmentation with
  // the leading rank's batch, as batch.images and batch.labels.
  virtual void write_gradients(const std::filesystem::path& file) = 0;
  // What the summary says of the device.
  virtual void describe(nlohmann::ordered_json& run) const = 0;
  // The weights given were for other classes, or without a head for the task.
  virtual bool new_classifier() const = 0;
};

// Where a training begins. `checkpoint` is there on the leading rank only; `resumed_at` (steps done) on all.
struct TrainingStart {
  const Checkpoint* checkpoint = nullptr;
  std::int64_t resumed_at = 0;
};

// `data`, which is at the first sample, and `communicator` must outlive the engine. T is float or double.
template <typename T>
std::unique_ptr<TrainingEngine> make_cpu_engine(const TrainOptions& options, const SwinConfig& config,
                                                const TrainingStart& start, TrainingData& data,
                                                Communicator& communicator);
// Sets what the device decides by itself (the precision), and throws WorkloadError where it cannot do what is asked
// for: before any data is touched. Makes this rank's GPU the current one and returns the rank with it.
RankInfo check_device_training(TrainOptions& options, const SwinConfig& config, const RankInfo& rank);
// Sets how the ranks sum up gradients (all_reduce), which they agree on.
std::unique_ptr<ProcessGroup> connect_devices(const RankInfo& rank, const RankConfiguration& configuration,
                                              const RendezvousOptions& rendezvous, TrainOptions& options);
std::unique_ptr<TrainingEngine> make_device_engine(const TrainOptions& options, const SwinConfig& config,
                                                   const TrainingStart& start, TrainingData& data,
                                                   Communicator& communicator);

// The parameters that a training without a checkpoint begins with. Returns whether weights were for other classes.
template <typename T>
bool start_parameters(const TrainOptions& options, const SwinConfig& config, ParameterStore<T>& store);
// All parameters from a flat buffer.
template <typename T>
std::vector<TensorSource> flat_tensors(const ParameterLayout& layout, std::span<const T> values);
// One file for them.
template <typename T>
void write_flat(const std::filesystem::path& file, const ParameterLayout& layout, std::span<const T> values);

}  // namespace swinscope
