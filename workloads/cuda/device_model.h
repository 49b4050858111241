// A Swin Transformer's forward pass on one GPU. The model is that of the CPU backend (model_table.h, parameters.h, the
// same layer paths); what differs is that the pass is a list of steps, made once for a configuration, a batch size, a
// precision and a set of features, then run as often as wanted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/device.h"
#include "kernels/matmul.h"
#include "workloads/annotate.h"
#include "workloads/cuda/device_step.h"
#include "workloads/cuda/features.h"
#include "workloads/models/model_table.h"
#include "workloads/parameters.h"
#include "workloads/quantization.h"

namespace swinscope {

enum class GeluForm : std::uint8_t {
  kAuto,  // tanh with 16-bit precisions, else erf
  kErf,   // exact; a kernel of its own
  kTanh,  // within fc1's product; differs from erf by 5e-4 at most
};

struct DeviceModelOptions {
  Precision precision = Precision::kFp16;  // kFp32, kTf32, kFp16, kBf16, kFp8 or kInt8
  Features features;
  InputRanges input_ranges;    // kFp8, kInt8: see calibration.h; layers without stay in fp16
  bool counts_inputs = false;  // see count_inputs()
  GeluForm gelu = GeluForm::kAuto;
  bool tap_fusion = false;                 // segmentation: see ModelOptions
  std::filesystem::path algorithm_folder;  // where choices of algorithms for products are kept; empty: nowhere
  // At most so long may ways to compute products be tried in the whole pass where that was not done before; 0, or
  // without the feature `graph`: they are chosen alone.
  double tune_seconds = 0.0;
};

// Bytes that a model takes on the device: parameters and activations, without CUDA's own.
struct DeviceMemoryNeed {
  std::int64_t fixed = 0;      // whatever the batch is
  std::int64_t per_image = 0;  // activations grow in proportion
  std::int64_t total(std::int64_t batch) const { return fixed + batch * per_image; }
};
DeviceMemoryNeed device_memory_need(const SwinConfig& config, const DeviceModelOptions& options);

// Throws WorkloadError: kFailure where there is no GPU or the GPU is too old; kUsage where `batch` does not fit into
// its free memory, naming the batch that would.
void check_device();
void check_device_memory(const SwinConfig& config, std::int64_t batch, const DeviceModelOptions& options);

// What these decide by, without a GPU; for fp8 and int8 products of such numbers must be there.
void check_capability(const cuda::DeviceInfo& info);
void check_eight_bits(const cuda::DeviceInfo& info, const std::string& precision);
void check_memory(const SwinConfig& config, std::int64_t batch, const DeviceModelOptions& options,
                  std::int64_t free_bytes);

class DeviceModel {
 public:
  // The store is read here and not needed afterwards. With the feature `graph` the pass is captured here.
  DeviceModel(const SwinConfig& config, std::int64_t batch, const DeviceModelOptions& options,
              const ParameterStore<float>& store);
  ~DeviceModel();
  DeviceModel(const DeviceModel&) = delete;
  DeviceModel& operator=(const DeviceModel&) = delete;
  DeviceModel(DeviceModel&&) = delete;
  DeviceModel& operator=(DeviceModel&&) = delete;

  // images: [batch, 3, size, size]; rounded to the model's precision on the device.
  void set_images(std::span<const float> images);
  // Enqueues one pass on stream().
  void forward();
  // Waits for the last pass. [batch, classes].
  std::vector<float> logits();
  // All activations become NaN, so that a value that a pass does not write shows.
  void poison_activations();

  cuda::Stream stream() const;
  std::span<const DeviceStep> steps() const;
  std::size_t graph_nodes() const;  // 0 without a graph
  cuda::MatmulStatistics matmul_statistics() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace swinscope
