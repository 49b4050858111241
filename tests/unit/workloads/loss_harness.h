// A whole model with its loss, for tests: one call from parameters and images to the loss and all gradients.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cross_entropy.h"
#include "workloads/execute/host_model.h"
#include "workloads/redraw.h"

namespace swinscope::test {

// The nano model cut down so that a test is short: 8x8 tokens in windows of 4x4, then 4x4 tokens, half the channels.
inline SwinConfig small_nano(SwinVersion version, int image_size = 32) {
  SwinConfig config = find_model(version == SwinVersion::kV1 ? "swin_nano" : "swinv2_nano");
  config.image_size = image_size;
  config.embed_dim = 16;
  return config;
}

template <typename T>
std::vector<T> redrawn_images(const SwinConfig& config, std::int64_t batch, std::uint64_t seed) {
  const std::vector<std::int64_t> shape = {batch, kImageChannels, config.image_size, config.image_size};
  std::vector<T> images(static_cast<std::size_t>(batch * kImageChannels * config.image_size * config.image_size));
  redraw_tensor<T>("input.image", shape, seed, images);
  return images;
}

// Parameters are redrawn from `seed`, as are the images.
template <typename T>
class LossHarness {
 public:
  LossHarness(const SwinConfig& config, std::vector<std::int32_t> labels, double smoothing, std::uint64_t seed,
              const ModelOptions& options = {.training = true})
      : labels_(std::move(labels)),
        shape_{static_cast<std::int64_t>(labels_.size()), config.classes, smoothing},
        store_(config, true),
        model_(config, shape_.rows, options, store_),
        images_(redrawn_images<T>(config, shape_.rows, seed)),
        row_loss_(labels_.size()),
        lse_(labels_.size()),
        dlogits_(labels_.size() * static_cast<std::size_t>(config.classes)) {
    redraw_parameters(store_, seed);
  }

  double loss() {
    logits_ = model_.forward(images_.data()).main;
    return cpu::cross_entropy_forward<T>(shape_, logits_, labels_.data(), row_loss_.data(), lse_.data()).mean_loss;
  }

  double loss_and_gradients(const GradientsReady& ready = [](std::int64_t) {}) {
    store_.clear_gradients();
    const double value = loss();
    cpu::cross_entropy_backward<T>(shape_, logits_, labels_.data(), lse_.data(), 1.0 / static_cast<double>(shape_.rows),
                                   dlogits_.data());
    model_.backward(dlogits_.data(), nullptr, ready);
    return value;
  }

  std::span<const T> logits() const { return {logits_, dlogits_.size()}; }
  std::vector<T>& images() { return images_; }
  ParameterStore<T>& store() { return store_; }
  HostModel<T>& model() { return model_; }

 private:
  std::vector<std::int32_t> labels_;
  CrossEntropyShape shape_;
  ParameterStore<T> store_;
  HostModel<T> model_;
  std::vector<T> images_;
  std::vector<T> row_loss_, lse_, dlogits_;
  const T* logits_ = nullptr;
};

}  // namespace swinscope::test
