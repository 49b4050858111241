// A Swin Transformer for semantic segmentation on the CPU backend: the backbone, a layer normalization of each stage's
// output, and UPerNet's head. Forward and backward for one fixed batch size; every operation is annotated.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/swin_backbone.h"
#include "workloads/uper_head.h"

namespace swinscope {

// Throws WorkloadError (kUsage) for a configuration whose head cannot be built, std::invalid_argument for another task.
void check_segmentation(const SwinConfig& config);

// T is float or double. `config` has Task::kSegmentation, the store and the communicator must outlive the model, and
// the store must have gradients for a training model.
template <typename T>
class SegmentationModel {
 public:
  // Throws WorkloadError (kUsage) for a configuration that cannot be built.
  SegmentationModel(const SwinConfig& config, std::int64_t batch, const ModelOptions& options, ParameterStore<T>& store,
                    Communicator& communicator);

  // As SwinModel's.
  void weights_changed() { backbone_.weights_changed(); }
  void begin_step(std::int64_t step, std::int64_t first_sample) { backbone_.begin_step(step, first_sample); }

  // images: [batch, 3, size, size]. Logits [batch, size / 4, size / 4, classes] (the auxiliary ones at the last stage
  // but one's resolution), valid until the next call. A training pass is a collective operation of all ranks.
  typename UperHead<T>::Logits forward(const T* images);
  // Gradients of the last forward pass's logits. A collective operation until the first call of `ready`, which comes
  // when the whole head is done: the ranks' communicator serves its normalizations until then.
  void backward(
      const T* dlogits, const T* dauxiliary, const GradientsReady& ready = [](std::int64_t) {});

 private:
  SwinBackbone<T> backbone_;
  ParameterBinder<T> head_binder_;
  std::vector<LayerNormLayer<T>> norms_;
  std::vector<std::vector<T>> features_;   // normalized
  std::vector<std::vector<T>> gradients_;  // of features_; training only
  UperHead<T> head_;
};

}  // namespace swinscope
