#include "workloads/cuda/calibration.h"

#include <string>
#include <utility>

#include "kernels/convert.h"
#include "workloads/cuda/step_launcher.h"
#include "workloads/execute/inference_pass.h"

namespace swinscope {
namespace {

constexpr std::string_view kCounts = "counts.";

// Every layer's input as a tensor of its own: nothing that keeps it within a kernel.
Features features_of(Features features) {
  features.mlp = features.normqkv = features.normrows = features.qkvattention = features.postnorm = false;
  return features;
}

}  // namespace

InputCounts count_inputs(const SwinConfig& config, std::int64_t batch, const DeviceModelOptions& options,
                         const ParameterStore<float>& store, const std::vector<std::vector<float>>& batches) {
  DeviceModelOptions counting = options;
  counting.precision = Precision::kFp16;
  counting.features = features_of(options.features);
  counting.counts_inputs = true;
  const cuda::OwnedStream stream;
  cuda::MatmulLibrary library(options.algorithm_folder);
  DeviceWeights weights(store, ElementType::kFp16, stream.get());
  const InferencePass pass(config, batch, counting, weights, library, stream.get(), cuda::device_info());
  library.finish_tuning();
  constexpr std::int64_t kBytes = sizeof(MagnitudeCounts);
  for (const auto& [name, place] : pass.named())
    if (name.starts_with(kCounts)) cuda::clear(place, kBytes, stream.get());
  for (const std::vector<float>& images : batches) {
    const auto count = static_cast<std::int64_t>(images.size());
    const cuda::DeviceBuffer staging(count * element_bytes(ElementType::kFp32));
    cuda::copy_to_device(staging.data(), images.data(), staging.bytes(), stream.get());
    cuda::convert(count, ElementType::kFp32, staging.data(), ElementType::kFp16, pass.images(), stream.get());
    run_unannotated(pass.steps(), stream.get());
    cuda::synchronize(stream.get());
  }
  InputCounts counts;
  for (const auto& [name, place] : pass.named())
    if (name.starts_with(kCounts))
      cuda::copy_to_host(counts[name.substr(kCounts.size())].data(), place, kBytes, stream.get());
  return counts;
}

}  // namespace swinscope
