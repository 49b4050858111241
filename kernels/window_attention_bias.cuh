// The position bias as the attention kernel reads it: by lanes of its products, in fp16.
#pragma once

#include "kernels/device_math.cuh"
#include "kernels/window_attention.h"

namespace swinscope::cuda {

constexpr float kLog2e = 1.4426950408889634F;
constexpr int kRowTiles = 4;  // of 16 queries
// Halves of bias of one lane and row tile: four for each of eight blocks of keys.
constexpr int kLaneBias = 32;
constexpr std::int64_t kHeadBias = std::int64_t{kRowTiles} * kWarp * kLaneBias;

// From a table [bias_table_rows(window), heads] to kHeadBias values for each head.
void expand_mma_bias(const WindowAttentionShape& shape, const float* table, void* bias, Stream stream);

}  // namespace swinscope::cuda
