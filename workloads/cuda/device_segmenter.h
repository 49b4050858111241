// Segmenting pictures on one GPU: a model's forward pass, with the running statistics of its normalizations and without
// the auxiliary head, and what becomes of its logits.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/matmul.h"
#include "workloads/cuda/device_model.h"
#include "workloads/models/model_table.h"
#include "workloads/parameters.h"

namespace swinscope {

struct DeviceSegmenterOptions : DeviceModelOptions {
  bool answers = true;  // a pass ends with answers()
};

// Bytes that it takes at most, with what it needs to choose algorithms.
std::int64_t segmenter_memory_need(const SwinConfig& config, const DeviceSegmenterOptions& options, std::int64_t batch);
// Throws WorkloadError (kUsage) where the batch does not fit into `free_bytes`, or has more rows than the kernels of
// the head take; naming one that would do.
void check_segmenter(const SwinConfig& config, const DeviceSegmenterOptions& options, std::int64_t batch,
                     std::int64_t free_bytes);

class DeviceSegmenter {
 public:
  // The store is read here and not needed afterwards. With the feature `graph` the pass is captured here.
  DeviceSegmenter(const SwinConfig& config, std::int64_t batch, const DeviceSegmenterOptions& options,
                  const ParameterStore<float>& store);
  ~DeviceSegmenter();
  DeviceSegmenter(const DeviceSegmenter&) = delete;
  DeviceSegmenter& operator=(const DeviceSegmenter&) = delete;
  DeviceSegmenter(DeviceSegmenter&&) = delete;
  DeviceSegmenter& operator=(DeviceSegmenter&&) = delete;

  // images: [batch, 3, size, size]; rounded to the model's precision on the device.
  void set_images(std::span<const float> images);
  // Enqueues one pass on stream().
  void forward();

  // Of the last pass, which all of these wait for. `image`: its number in the batch.
  // [batch, size / 4, size / 4, classes].
  std::vector<float> logits() const;
  // [batch, size, size]: the class of each pixel, where the options ask for it.
  std::vector<std::uint8_t> answers() const;
  // Whether all logits of an image are finite.
  bool finite(std::int64_t image) const;
  // Its classes when its logits are resized to a square of that side: [side, side].
  std::vector<std::uint8_t> answer(std::int64_t image, std::int64_t side);

  cuda::Stream stream() const;
  std::span<const DeviceStep> steps() const;  // of a pass
  std::size_t graph_nodes() const;            // 0 without a graph
  std::int64_t memory_bytes() const;          // of parameters and activations
  cuda::MatmulStatistics matmul_statistics() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace swinscope
