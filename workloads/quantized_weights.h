// Weights rounded to 8 bits, as a safetensors file: those of quantized layers as F8_E4M3 with a factor for each output
// (<name>_scale), all else as F32, and in the metadata which layers' inputs have which range. load_weights() reads them
// as it reads all others.
#pragma once

#include <optional>

#include "workloads/parameters.h"
#include "workloads/quantization.h"
#include "workloads/safetensors.h"
#include "workloads/weights.h"

namespace swinscope {

struct Quantization {
  std::string model;
  std::string observer;
  std::int64_t images = 0;  // that were looked at
  InputRanges ranges;       // of the layers that are quantized
};

// The weight of a block's layer: "stage3.block5.attn.qkv" has layers.2.blocks.4.attn.qkv.weight. Empty for what has
// none.
std::string weight_of_layer(const std::string& layer);

void write_quantized_weights(const std::filesystem::path& file, const Quantization& quantization,
                             const ParameterStore<float>& store);

// Nothing where the file's weights are not quantized. Throws WorkloadError (kInput) where that cannot be read.
std::optional<Quantization> quantization_in(const SafetensorsFile& file);

}  // namespace swinscope
