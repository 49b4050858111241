// Weights rounded to 8 bits, as a safetensors file: those of quantized layers as F8_E4M3 or I8 with a factor for each
// output (<name>_scale), all else as F32, and in the metadata which layers' inputs have which range. load_weights()
// reads them as it reads all others.
#pragma once

#include <optional>

#include "workloads/annotate.h"
#include "workloads/parameters.h"
#include "workloads/quantization.h"
#include "workloads/safetensors.h"
#include "workloads/weights.h"

namespace swinscope {

struct Quantization {
  std::string model;
  std::string observer;
  std::int64_t images = 0;                // that were looked at
  InputRanges ranges;                     // of the layers that are quantized
  Precision precision = Precision::kFp8;  // or kInt8
};

// The weight of a block's layer: "stage3.block5.attn.qkv" has layers.2.blocks.4.attn.qkv.weight. Empty for what has
// none.
std::string weight_of_layer(const std::string& layer);

void write_quantized_weights(const std::filesystem::path& file, const Quantization& quantization,
                             const ParameterStore<float>& store);

// Nothing where the file's weights are not quantized. Throws WorkloadError (kInput) where that cannot be read.
std::optional<Quantization> quantization_in(const SafetensorsFile& file);

// Of a file's quantization. Throws WorkloadError (kUsage) where that is not to this precision, kFp8 or kInt8.
InputRanges ranges_for(Precision precision, const Quantization& quantization, const std::filesystem::path& file);

}  // namespace swinscope
