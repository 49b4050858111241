#include "workloads/swin_backbone.h"

#include <numeric>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace swinscope {
namespace {

const SwinConfig& checked(const SwinConfig& config, std::int64_t batch) {
  check_config(config);
  if (batch < 1) throw std::invalid_argument("SwinBackbone: the batch must not be empty");
  return config;
}

int block_count(const SwinConfig& config) {
  return std::accumulate(config.depths.begin(), config.depths.begin() + config.stages, 0);
}

std::size_t stage_count(const SwinConfig& config, int stage, std::int64_t batch) {
  const StageShape shape = stage_shape(config, stage);
  return static_cast<std::size_t>(batch * shape.resolution * shape.resolution * shape.width);
}

}  // namespace

template <typename T>
SwinBackbone<T>::SwinBackbone(const SwinConfig& config, std::int64_t batch, const ModelOptions& options,
                              ParameterStore<T>& store)
    : batch_(batch),
      training_(options.training),
      store_(&store),
      depth_(training_ ? options.drop_path : 0.0, block_count(checked(config, batch)), batch, options.seed),
      stem_binder_(store),
      stem_(std::make_unique<PatchStem<T>>(stem_binder_, config, batch)),
      stem_output_(stage_count(config, 0, batch)) {
  build_stages(config, options);
  if (!training_) return;
  gradient_.resize(stage_count(config, 0, batch));  // each stage has half of the one before it
  gradient_scratch_.resize(gradient_.size());
}

template <typename T>
void SwinBackbone<T>::build_stages(const SwinConfig& config, const ModelOptions& options) {
  int first_block = 0;
  merging_binders_.assign(static_cast<std::size_t>(config.stages - 1), ParameterBinder<T>(*store_));
  for (int stage = 0; stage < config.stages; ++stage) {
    typename SwinStage<T>::Setup setup;
    setup.version = config.version;
    setup.shape = stage_shape(config, stage);
    setup.stage = stage;
    setup.first_block = first_block;
    setup.batch = batch_;
    setup.training = training_;
    for (const BlockIndex& index : options.identity_blocks) {
      if (index.stage == stage) setup.identity_blocks.push_back(index.block);
    }
    stages_.push_back(std::make_unique<SwinStage<T>>(*store_, setup, scratch_, depth_));
    first_block += setup.shape.depth;
    const std::int64_t count = stages_.back()->output_count();
    joins_.push_back({RangeName(fmt::format("stage{}.feature", stage + 1)),
                      {},
                      make_payload(add_into_cost(count, sizeof(T)), OperationClass::kElementwise, precision_of<T>(),
                                   {count}, {count})});
    if (stage + 1 == config.stages) break;
    mergings_.push_back(std::make_unique<PatchMerging<T>>(merging_binders_[static_cast<std::size_t>(stage)], config,
                                                          stage, batch_, training_));
    merged_.emplace_back(stage_count(config, stage + 1, batch_));
  }
}

template <typename T>
void SwinBackbone<T>::weights_changed() {
  for (const auto& stage : stages_)
    stage->refresh_position_bias();
}

template <typename T>
const T* SwinBackbone<T>::forward(const T* images) {
  stem_->forward(images, stem_output_.data());
  const T* x = stem_output_.data();
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    x = stages_[i]->forward(x);
    if (i == mergings_.size()) break;
    mergings_[i]->forward(x, merged_[i].data());
    x = merged_[i].data();
  }
  return x;
}

template <typename T>
void SwinBackbone<T>::backward(std::span<const T* const> stage_gradients, const GradientsReady& ready) {
  if (!training_) throw std::logic_error("SwinBackbone: backward of an inference model");
  T* gradient = gradient_.data();
  T* scratch = gradient_scratch_.data();
  for (std::size_t i = stages_.size(); i-- > 0;) {
    if (i < stage_gradients.size() && stage_gradients[i] != nullptr) {
      const OperationRange range(joins_[i].name, joins_[i].backward);
      cpu::add_into<T>(stages_[i]->output_count(), stage_gradients[i], gradient);
    }
    stages_[i]->backward(gradient, scratch, ready);
    if (i == 0) break;
    mergings_[i - 1]->backward(gradient, scratch);
    std::swap(gradient, scratch);
    ready(merging_binders_[i - 1].gradient_end());
  }
  stem_->backward(gradient);
  ready(store_->layout().flat_count());
}

template <typename T>
std::span<const T> SwinBackbone<T>::stage_output(int stage) const {
  const SwinStage<T>& from = *stages_.at(static_cast<std::size_t>(stage));
  return {from.output(), static_cast<std::size_t>(from.output_count())};
}

template class SwinBackbone<float>;
template class SwinBackbone<double>;

}  // namespace swinscope
