#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "workloads/initialize.h"
#include "workloads/program/scene_gradients.h"
#include "workloads/program/step_times.h"
#include "workloads/program/training_engine.h"
#include "workloads/safetensors_writer.h"

namespace swinscope {
namespace {

// A step has ended when step() returns. T is float or double.
template <typename T>
class CpuEngine : public TrainingEngine {
 public:
  CpuEngine(const TrainOptions& options, const SwinConfig& config, const TrainingStart& start, TrainingData& data,
            Communicator& communicator)
      : config_(config),
        batch_(options.run.batch),
        communicator_(communicator),
        store_(config, true),
        new_classifier_(start.checkpoint == nullptr && start_parameters(options, config, store_)),
        trainer_(config, options.trainer, data, store_, communicator),
        evaluation_{.tap_fusion = options.trainer.tap_fusion} {
    if (start.resumed_at > 0) resume(start);
  }

  void step(bool stop) override {
    const std::int64_t start_ns = now_ns();
    const StepResult result = trainer_.step(stop);
    done_.push_back({result, now_ns() - start_ns});
  }
  std::vector<FinishedStep> finished(bool /*wait*/) override { return std::exchange(done_, {}); }
  std::int64_t global_batch() const override { return trainer_.global_batch(); }

  void save(const std::filesystem::path& folder, const std::map<std::string, std::string>& settings) override {
    CheckpointState state;
    state.steps_done = trainer_.steps_done();
    state.optimizer_steps = trainer_.optimizer().steps();
    state.settings = settings;
    write_checkpoint<T>(folder, state, store_, trainer_.optimizer().moments());
  }
  void describe(nlohmann::ordered_json& /*run*/) const override {}
  bool new_classifier() const override { return new_classifier_; }

  Evaluation evaluate(TrainingData& data, std::int64_t images) override {
    if (!evaluator_) evaluator_.emplace(config_, batch_, evaluation_, store_, communicator_);
    return evaluator_->evaluate(data, images);
  }
  void write_gradients(const std::filesystem::path& file) override {
    const std::span<const T> gradients = std::as_const(store_).gradients();
    if constexpr (std::is_same_v<T, float>) {  // as segmentation is
      if (config_.task == Task::kSegmentation) {
        return write_scene_gradients(file, config_, store_.layout(), gradients, trainer_.images(),
                                     trainer_.labels().pixels());
      }
    }
    write_flat<T>(file, store_.layout(), gradients);
  }

 private:
  // The trainer has sent the leading rank's parameters to all; here follows what the checkpoint has, which lies on that
  // rank only.
  void resume(const TrainingStart& start) {
    const auto moments = trainer_.optimizer().moments();
    std::int64_t optimizer_steps = 0;
    if (start.checkpoint != nullptr) {
      start.checkpoint->read(store_, moments);
      optimizer_steps = start.checkpoint->state().optimizer_steps;
    }
    communicator_.broadcast(std::as_writable_bytes(store_.values()), 0);
    // Running statistics, which only segmentation has.
    if (!store_.buffers().empty()) communicator_.broadcast(std::as_writable_bytes(store_.buffers()), 0);
    communicator_.broadcast(std::as_writable_bytes(moments.first), 0);
    communicator_.broadcast(std::as_writable_bytes(moments.second), 0);
    communicator_.broadcast(std::as_writable_bytes(std::span(&optimizer_steps, 1)), 0);
    trainer_.optimizer().set_steps(optimizer_steps);
    trainer_.set_steps_done(start.resumed_at);
  }

  const SwinConfig& config_;
  std::int64_t batch_;
  Communicator& communicator_;
  ParameterStore<T> store_;
  bool new_classifier_;
  Trainer<T> trainer_;
  ModelOptions evaluation_;
  std::optional<Evaluator<T>> evaluator_;
  std::vector<FinishedStep> done_;
};

TensorSource source(const ParameterInfo& tensor, std::span<const float> values) {
  return {tensor.name, tensor.shape, values, {}};
}
TensorSource source(const ParameterInfo& tensor, std::span<const double> values) {
  return {tensor.name, tensor.shape, {}, values};
}

}  // namespace

template <typename T>
bool start_parameters(const TrainOptions& options, const SwinConfig& config, ParameterStore<T>& store) {
  initialize_parameters(store, config.version, options.run.seed);
  return load_weights_to_train(options.run, store) == GivenWeights::kWithoutClassifier;
}

template <typename T>
std::vector<TensorSource> flat_tensors(const ParameterLayout& layout, std::span<const T> values) {
  std::vector<TensorSource> tensors;
  for (const ParameterInfo& tensor : layout.tensors()) {
    tensors.push_back(source(
        tensor, values.subspan(static_cast<std::size_t>(tensor.offset), static_cast<std::size_t>(tensor.count))));
  }
  return tensors;
}

template <typename T>
void write_flat(const std::filesystem::path& file, const ParameterLayout& layout, std::span<const T> values) {
  write_safetensors(file, flat_tensors(layout, values), {});
}

template <typename T>
std::unique_ptr<TrainingEngine> make_cpu_engine(const TrainOptions& options, const SwinConfig& config,
                                                const TrainingStart& start, TrainingData& data,
                                                Communicator& communicator) {
  return std::make_unique<CpuEngine<T>>(options, config, start, data, communicator);
}

template std::unique_ptr<TrainingEngine> make_cpu_engine<float>(const TrainOptions&, const SwinConfig&,
                                                                const TrainingStart&, TrainingData&, Communicator&);
template std::unique_ptr<TrainingEngine> make_cpu_engine<double>(const TrainOptions&, const SwinConfig&,
                                                                 const TrainingStart&, TrainingData&, Communicator&);
template bool start_parameters<float>(const TrainOptions&, const SwinConfig&, ParameterStore<float>&);
template bool start_parameters<double>(const TrainOptions&, const SwinConfig&, ParameterStore<double>&);
template std::vector<TensorSource> flat_tensors<float>(const ParameterLayout&, std::span<const float>);
template std::vector<TensorSource> flat_tensors<double>(const ParameterLayout&, std::span<const double>);
template void write_flat<float>(const std::filesystem::path&, const ParameterLayout&, std::span<const float>);
template void write_flat<double>(const std::filesystem::path&, const ParameterLayout&, std::span<const double>);

}  // namespace swinscope
