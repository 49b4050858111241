#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include "workloads/initialize.h"
#include "workloads/program/host_engine.h"
#include "workloads/program/training_engine.h"
#include "workloads/safetensors_writer.h"

namespace swinscope {
namespace {

template <typename T>
class CpuEngine : public HostEngine<T, Trainer<T>> {
  using Base = HostEngine<T, Trainer<T>>;

 public:
  CpuEngine(const TrainOptions& options, const SwinConfig& config, const TrainingStart& start, TrainingData& data,
            Communicator& communicator)
      : Base(options, config, start, data, communicator) {}

  using TrainingEngine::evaluate;
  Evaluation evaluate(TrainingData& data, std::int64_t images) override {
    if (!evaluator_) evaluator_.emplace(this->config_, this->batch_, this->store_, this->communicator_);
    return evaluator_->evaluate(data, images);
  }
  void write_gradients(const std::filesystem::path& file) override {
    write_flat<T>(file, this->store_.layout(), std::as_const(this->store_).gradients());
  }

 private:
  std::optional<Evaluator<T>> evaluator_;
};

TensorSource source(const ParameterInfo& tensor, std::span<const float> values) {
  return {tensor.name, tensor.shape, values, {}};
}
TensorSource source(const ParameterInfo& tensor, std::span<const double> values) {
  return {tensor.name, tensor.shape, {}, values};
}

}  // namespace

Evaluation TrainingEngine::evaluate(TrainingData& /*data*/, std::int64_t /*images*/) {
  throw std::logic_error("TrainingEngine: the engine of another task");
}
Evaluation TrainingEngine::evaluate(SegmentationData& /*data*/, std::int64_t /*images*/) {
  throw std::logic_error("TrainingEngine: the engine of another task");
}

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
