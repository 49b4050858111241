#include "workloads/swin_stage.h"

#include <algorithm>

#include <fmt/format.h>

namespace swinscope {

template <typename T>
BlockActivations<T>::BlockActivations(const BlockSetup& setup)
    : attention(setup), mlp(setup), middle(static_cast<std::size_t>(setup.tokens() * setup.stage.width)) {}

template <typename T>
SwinBlock<T>::SwinBlock(ParameterStore<T>& store, const BlockSetup& setup, int number, BlockActivations<T>& activations,
                        BlockScratch<T>& scratch, const StochasticDepth<T>& depth)
    : number_(number),
      depth_(&depth),
      middle_(activations.middle.data()),
      attention_binder_(store),
      mlp_binder_(store),
      attention_(attention_binder_, setup, activations.attention, scratch),
      mlp_(mlp_binder_, setup, activations.mlp, scratch) {}

template <typename T>
void SwinBlock<T>::forward(const T* x, T* y) {
  attention_.forward(x, depth_->scale(number_, 0), middle_);
  mlp_.forward(middle_, depth_->scale(number_, 1), y);
}

template <typename T>
void SwinBlock<T>::backward(const T* x, T* gradient, T* scratch, const GradientsReady& ready) {
  mlp_.backward(middle_, depth_->scale(number_, 1), gradient, scratch);
  ready(mlp_binder_.gradient_end());
  attention_.backward(x, depth_->scale(number_, 0), scratch, gradient);
  ready(attention_binder_.gradient_end());
}

template <typename T>
SwinStage<T>::SwinStage(ParameterStore<T>& store, const Setup& setup, BlockScratch<T>& scratch,
                        const StochasticDepth<T>& depth)
    : count_(setup.batch * setup.shape.resolution * setup.shape.resolution * setup.shape.width),
      slots_(static_cast<std::size_t>(setup.shape.depth)) {
  BlockSetup block;
  block.version = setup.version;
  block.stage = setup.shape;
  block.batch = setup.batch;
  block.training = setup.training;
  for (int i = 0; i < setup.shape.depth; ++i) {
    if (std::ranges::find(setup.identity_blocks, i) != setup.identity_blocks.end()) continue;
    block.shift = i % 2 == 0 ? 0 : setup.shape.shift;
    block.parameters = fmt::format("layers.{}.blocks.{}", setup.stage, i);
    block.path = fmt::format("stage{}.block{}", setup.stage + 1, i + 1);
    if (setup.training || activations_.empty()) activations_.push_back(std::make_unique<BlockActivations<T>>(block));
    Slot& slot = slots_[static_cast<std::size_t>(i)];
    slot.block =
        std::make_unique<SwinBlock<T>>(store, block, setup.first_block + i, *activations_.back(), scratch, depth);
    if (setup.training) slot.output.resize(static_cast<std::size_t>(count_));
  }
  if (setup.training) return;
  for (std::vector<T>& output : shared_outputs_)
    output.resize(static_cast<std::size_t>(count_));
}

template <typename T>
void SwinStage<T>::refresh_position_bias() {
  for (Slot& slot : slots_) {
    if (slot.block) slot.block->refresh_position_bias();
  }
}

template <typename T>
T* SwinStage<T>::next_output(Slot& slot, const T* x) {
  if (!slot.output.empty()) return slot.output.data();
  return shared_outputs_[x == shared_outputs_[0].data() ? 1 : 0].data();
}

template <typename T>
const T* SwinStage<T>::forward(const T* x) {
  for (Slot& slot : slots_) {
    slot.input = x;
    if (!slot.block) continue;
    T* const y = next_output(slot, x);
    slot.block->forward(x, y);
    x = y;
  }
  output_ = x;
  return x;
}

template <typename T>
void SwinStage<T>::backward(T* gradient, T* scratch, const GradientsReady& ready) {
  for (auto slot = slots_.rbegin(); slot != slots_.rend(); ++slot) {
    if (slot->block) slot->block->backward(slot->input, gradient, scratch, ready);
  }
}

template struct BlockActivations<float>;
template struct BlockActivations<double>;
template class SwinBlock<float>;
template class SwinBlock<double>;
template class SwinStage<float>;
template class SwinStage<double>;

}  // namespace swinscope
