// The groups of kernel checks, one function a group. See kernel_checks().
#pragma once

#include "workloads/verify/verify.h"

namespace swinscope {

void check_layernorm(const VerifyReport& report);
void check_elementwise(const VerifyReport& report);
void check_layout(const VerifyReport& report);
void check_matmul(const VerifyReport& report, const std::filesystem::path& algorithm_folder);
void check_product_tiles(const VerifyReport& report);
void check_tall_product_tiles(const VerifyReport& report);
void check_normalized_result_tiles(const VerifyReport& report);
void check_tall_normalized_result_tiles(const VerifyReport& report);
void check_narrow_block(const VerifyReport& report);
void check_normalized_rows(const VerifyReport& report);
void check_eight_bits(const VerifyReport& report);
void check_tall_eight_bits(const VerifyReport& report);
void check_byte_copies(const VerifyReport& report);
void check_byte_weight_gradients(const VerifyReport& report);
void check_integers_alone(const VerifyReport& report);
void check_sparse_products(const VerifyReport& report);
void check_position_bias(const VerifyReport& report);
void check_attention(const VerifyReport& report);
void check_qkv_attention(const VerifyReport& report);
void check_attention_steps(const VerifyReport& report, const std::filesystem::path& algorithm_folder);
// Of training:
void check_layernorm_backward(const VerifyReport& report);
void check_elementwise_backward(const VerifyReport& report);
void check_gradient_products(const VerifyReport& report, const std::filesystem::path& algorithm_folder);
void check_attention_backward(const VerifyReport& report);
void check_wide_attention_backward(const VerifyReport& report);
void check_attention_steps_backward(const VerifyReport& report, const std::filesystem::path& algorithm_folder);
void check_position_bias_backward(const VerifyReport& report);
void check_loss(const VerifyReport& report);
void check_stochastic_depth(const VerifyReport& report);
void check_optimizer(const VerifyReport& report);
void check_sum_parts(const VerifyReport& report);
// Of segmentation:
void check_resize(const VerifyReport& report);
void check_pixel_losses(const VerifyReport& report);
void check_batchnorm(const VerifyReport& report);
void check_map_operations(const VerifyReport& report);
void check_tap_fusion(const VerifyReport& report);
void check_convolution(const VerifyReport& report);

}  // namespace swinscope
