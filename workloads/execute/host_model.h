// A model on the CPU, for one fixed batch size: for classification or segmentation, for inference or training.
//
//   ParameterStore<float> store(config, /*with_gradients=*/true);
//   initialize_parameters(store, seed);
//   HostModel<float> model(config, batch, {.training = true}, store);
//   const float* logits = model.forward(images).main;
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "workloads/execute/host_backend.h"
#include "workloads/models/model.h"
#include "workloads/stochastic_depth.h"

namespace swinscope {

template <typename T>
struct Logits {
  // [batch, classes]; of segmentation [batch, size / 4, size / 4, classes].
  const T* main = nullptr;
  // Training of segmentation: of the last stage but one, at its resolution.
  const T* auxiliary = nullptr;
};

// T is float or double. The store, which has gradients for a training model, and the communicator must outlive the
// model. Training for segmentation with several ranks, forward() and backward() until its first call of `ready` are
// collective operations: batches are normalized over all ranks.
template <typename T>
class HostModel {
 public:
  // Throws WorkloadError (kUsage) for a configuration that cannot be built.
  HostModel(const SwinConfig& config, std::int64_t batch, const ModelOptions& options, ParameterStore<T>& store,
            Communicator* communicator = nullptr);

  // To be called after the weights of an inference model have been set or changed: computes what follows from them
  // alone. A training model does so in each pass.
  void weights_changed();
  // Draws stochastic depth for a step; without it the last draw stays. `first_sample`: see StochasticDepth::draw.
  void begin_step(std::int64_t step, std::int64_t first_sample) { depth_.draw(step, first_sample); }

  // images: [batch, 3, size, size]. The logits are valid until the next call.
  Logits<T> forward(const T* images);
  // Gradients of the last forward pass's logits. Accumulates into the store's gradients, from the end of the model to
  // its start, calling `ready` as they become final.
  void backward(
      const T* dlogits, const T* dauxiliary = nullptr, const GradientsReady& ready = [](std::int64_t) {});

  // Of the last forward pass, by name: see build_model().
  std::span<const T> output(const std::string& name) const;
  const Graph& graph() const { return backend_.graph(); }
  std::int64_t planned_bytes() const { return backend_.planned_bytes(); }

 private:
  const T* pointer(const std::string& name) const;
  void bind(const std::string& input, const T* values);

  bool training_;
  bool constants_made_ = false;
  StochasticDepth<T> depth_;
  HostBackend<T> backend_;
};

}  // namespace swinscope
