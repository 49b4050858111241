// swin train --device cuda.
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "workloads/cuda/device_ranks.h"
#include "workloads/cuda/device_trainer.h"
#include "workloads/cuda/element_type.h"
#include "workloads/cuda/training_plan.h"
#include "workloads/data/synthetic_scenes.h"
#include "workloads/error.h"
#include "workloads/program/device_commands.h"
#include "workloads/program/operation_table.h"
#include "workloads/program/scene_gradients.h"
#include "workloads/program/training_engine.h"
#include "workloads/synthetic_data.h"
#include "workloads/verify/verify.h"

namespace swinscope {
namespace {

// A synthetic set beyond that is drawn batch by batch.
constexpr std::int64_t kMostResidentBytes = std::int64_t{4} << 30;

// What the GPU and the model have to do with it is checked by require_bytes().
Precision training_precision(const TrainOptions& options) {
  const Precision precision = parse_inference_precision(options.run.precision);
  const bool bytes = byte_format_of(precision) != ByteFormat::kNone;
  if (options.qat && !bytes) {
    throw WorkloadError(WorkloadErrorKind::kUsage, fmt::format("--qat: not with --precision {}", options.run.precision),
                        "it fine-tunes for inference in 8 bits", "add --precision fp8 or --precision int8");
  }
  if (precision == Precision::kInt8 && !options.qat) {
    throw WorkloadError(WorkloadErrorKind::kUsage, "--precision int8: training is in fp8",
                        "gradients span more powers of two than int8 has",
                        "--precision fp8, or --qat to fine-tune weights for inference in int8");
  }
  return precision;
}

void require_bytes(const DeviceTrainerOptions& options, const SwinConfig& config, const std::string& name) {
  if (byte_format_of(options.precision) == ByteFormat::kNone) return;
  const cuda::DeviceInfo gpu = cuda::device_info();
  if (gpu.major != 0 && gpu.major != 9) {
    throw WorkloadError(
        WorkloadErrorKind::kUsage, fmt::format("--precision {}: not on this GPU", name),
        fmt::format("products of 8-bit operands are for compute capability 9.0 (H100, H200), {} has {}.{}", gpu.name,
                    gpu.major, gpu.minor),
        "--precision fp16 or bf16");
  }
  if (TrainingPlan(config, options, 1).training.find(kByteScales) != kNoTensor) return;
  throw WorkloadError(
      WorkloadErrorKind::kUsage, fmt::format("--precision {}: {} has no layer for it", name, config.name),
      fmt::format("layers within blocks are trained in 8 bits from {} channels on", least_byte_width(options)),
      "--precision fp16 or bf16, or a larger model");
}

DeviceTrainerOptions trainer_options(const TrainOptions& options, int ranks) {
  DeviceTrainerOptions result;
  result.trainer = options.trainer;
  result.precision = training_precision(options);
  result.byte_gradients = !options.qat;
  result.features = select_features(find_level(options.level), options.with, options.without, FeatureUse::kTraining);
  result.recompute = options.recompute;
  result.spare_multiprocessors = options.comm_blocks;
  if (ranks > 1) result.reduce_type = element_type_of(parse_device_precision(options.reduce_precision));
  result.reduce_by_copies = ranks > 1 && options.may_reduce_by_copies();
  result.algorithm_folder = algorithm_folder();
  return result;
}

// Of a synthetic set, 0 where it is drawn batch by batch.
std::int64_t resident_bytes(const SwinConfig& config, std::int64_t size, Precision precision) {
  const std::int64_t bytes = ResidentFeed::bytes(config, size, element_type_of(precision));
  return bytes <= kMostResidentBytes ? bytes : 0;
}

// Rank 0's text on all ranks.
std::string shared(Communicator& communicator, std::string text) {
  auto length = static_cast<std::int64_t>(text.size());
  communicator.broadcast(std::as_writable_bytes(std::span(&length, 1)), 0);
  text.resize(static_cast<std::size_t>(length));
  if (length > 0) communicator.broadcast(std::as_writable_bytes(std::span(text)), 0);
  return text;
}

class DeviceEngine : public TrainingEngine {
 public:
  DeviceEngine(const TrainOptions& options, const SwinConfig& config, const TrainingStart& start, TrainingData& data,
               Communicator& communicator)
      : options_(options), config_(config), store_(config, false) {
    DeviceTrainerOptions wanted = trainer_options(options, communicator.size());
    features_ = wanted.features;
    if (start.checkpoint == nullptr) {
      new_classifier_ = start_parameters(options, config, store_);
    } else {
      wanted.algorithms = start.checkpoint->state().algorithms;
    }
    wanted.algorithms = shared(communicator, wanted.algorithms);
    trainer_.emplace(config, wanted, store_, communicator.gpus());
    if (start.resumed_at > 0) restore(start);
    feed_ = make_feed(data);
  }

  void step(bool stop) override { trainer_->step(*feed_, stop); }
  std::vector<FinishedStep> finished(bool wait) override { return trainer_->finished(wait); }

  std::int64_t global_batch() const override { return trainer_->global_batch(); }

  Evaluation evaluate(TrainingData& data, std::int64_t images) override {
    StreamedFeed feed(data, config_, options_.run.batch, trainer_->element_type());
    return trainer_->evaluate(feed, images);
  }

  void save(const std::filesystem::path& folder, const std::map<std::string, std::string>& settings) override {
    std::vector<float> first(store_.values().size());
    std::vector<float> second(first.size());
    const DeviceTrainingState training = trainer_->download(store_.values(), first, second);
    trainer_->download_buffers(store_.buffers());
    CheckpointState state;
    state.steps_done = training.steps_done;
    state.optimizer_steps = training.updates;
    state.loss_scale = training.loss_scale;
    state.good_steps = training.good_steps;
    state.byte_scales = training.byte_scales;
    state.algorithms = trainer_->algorithms();
    state.settings = settings;
    write_checkpoint<float>(folder, state, store_, {first, second});
  }

  void write_gradients(const std::filesystem::path& file) override {
    const std::vector<float> gradients = trainer_->gradients();
    if (remembered_) {
      write_scene_gradients(file, config_, store_.layout(), gradients, remembered_->images(), remembered_->labels());
    } else {
      write_flat<float>(file, store_.layout(), gradients);
    }
  }

  void describe(nlohmann::ordered_json& run) const override {
    const cuda::DeviceInfo info = cuda::device_info();
    run["gpu"] = info.name;
    run["cuda_driver"] = info.driver_version;
    run["cuda_runtime"] = info.runtime_version;
    run["level"] = options_.level;
    run["features"] = swinscope::describe(features_);
    run["recompute"] = options_.recompute;
    run["graph_nodes"] = trainer_->graph_nodes();
    run["memory_bytes"] = trainer_->memory_bytes();
    run["device_memory_used_bytes"] = info.memory_bytes - cuda::free_memory();
    run["products_timed"] = trainer_->matmul_statistics().timed;
    if (!options_.operations) return;
    const std::vector<OperationTime> operations =
        profile_steps(trainer_->all_steps(), trainer_->stream(), kProfiledPasses);
    run["operations"] = describe_operations(operations);
    if (!options_.run.json) print_operations(operations);
  }
  bool new_classifier() const override { return new_classifier_; }

 private:
  // The leading rank has the checkpoint; its state goes to all.
  void restore(const TrainingStart& start) {
    std::vector<float> first(store_.values().size());
    std::vector<float> second(first.size());
    DeviceTrainingState training;
    training.steps_done = start.resumed_at;
    if (start.checkpoint != nullptr) {
      start.checkpoint->read<float>(store_, {first, second});
      const CheckpointState& state = start.checkpoint->state();
      training.updates = state.optimizer_steps;
      training.good_steps = state.good_steps;
      training.loss_scale = state.loss_scale;
      training.byte_scales = state.byte_scales;
    }
    trainer_->upload(training, store_.values(), first, second);
    trainer_->upload_buffers(store_.buffers());
  }

  std::unique_ptr<BatchFeed> make_feed(TrainingData& data) {
    const ElementType type = trainer_->element_type();
    const std::int64_t batch = options_.run.batch;
    if (config_.task == Task::kSegmentation && !options_.gradients.empty()) {
      remembered_.emplace(data);
      return std::make_unique<StreamedFeed>(*remembered_, config_, batch, type);
    }
    const std::int64_t size = resident_size(data);
    if (size == 0) return std::make_unique<StreamedFeed>(data, config_, batch, type);
    return std::make_unique<ResidentFeed>(data, size, config_, batch, type, trainer_->stream());
  }

  // Samples of a synthetic set that stays on the device; 0 where batches come from the host.
  std::int64_t resident_size(const TrainingData& data) const {
    if (const auto* const scenes = dynamic_cast<const SyntheticScenes*>(&data)) return scenes->size();
    const auto* const images = dynamic_cast<const SyntheticData*>(&data);
    if (images == nullptr) return 0;
    const Precision precision = training_precision(options_);
    return resident_bytes(config_, images->size(), precision) > 0 ? images->size() : 0;
  }

  const TrainOptions& options_;
  const SwinConfig& config_;
  Features features_;
  ParameterStore<float> store_;
  bool new_classifier_ = false;
  std::optional<DeviceTrainer> trainer_;
  std::optional<RememberedScenes> remembered_;  // of segmentation, where gradients are to be written
  std::unique_ptr<BatchFeed> feed_;
};

}  // namespace

RankInfo check_device_training(TrainOptions& options, const SwinConfig& config, const RankInfo& rank) {
  if (options.run.device != "cuda") {
    throw WorkloadError(WorkloadErrorKind::kUsage, fmt::format("--device {}: unknown", options.run.device), {},
                        "cpu and cuda are known");
  }
  const Level& level = find_level(options.level);
  if (options.run.precision.empty()) options.run.precision = level.default_precision;
  RankInfo placed = take_gpu(rank);
  check_device();
  const DeviceTrainerOptions wanted = trainer_options(options, rank.size);
  require_bytes(wanted, config, options.run.precision);
  std::int64_t free_bytes = cuda::free_memory();
  if (!options.folders && config.task == Task::kClassification)
    free_bytes -= resident_bytes(config, options.dataset_size, wanted.precision);
  check_training_memory(config, wanted, free_bytes);
  return placed;
}

std::unique_ptr<ProcessGroup> connect_devices(const RankInfo& rank, const RankConfiguration& configuration,
                                              const RendezvousOptions& rendezvous, TrainOptions& options) {
  std::unique_ptr<ProcessGroup> group =
      connect_gpus(rank, configuration, {rendezvous, options.comm_blocks, options.all_reduce});
  options.all_reduce = choose_all_reduce(group->meeting());
  return group;
}

std::unique_ptr<TrainingEngine> make_device_engine(const TrainOptions& options, const SwinConfig& config,
                                                   const TrainingStart& start, TrainingData& data,
                                                   Communicator& communicator) {
  return std::make_unique<DeviceEngine>(options, config, start, data, communicator);
}

}  // namespace swinscope
