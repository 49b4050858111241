// What one image costs, from the shapes alone. FLOPs count 2 per multiply-add of matrix products and convolutions only
// (softmax, normalization and activations are not counted), the convention of every published Swin figure doubled:
// papers count multiply-adds. V2's position bias network runs once per weight update, not per image, and is not
// counted.
#pragma once

#include <array>
#include <cstdint>

#include "workloads/models/model_table.h"

namespace swinscope {

struct PartCost {
  std::int64_t flops = 0;       // of one image's forward pass
  std::int64_t parameters = 0;  // scalars
};

// The merging between stage i and i + 1 counts to stage i, as in the paper's architecture table.
struct ModelCost {
  PartCost stem;  // patch embedding
  std::array<PartCost, kMaxStages> stages;
  PartCost head;       // final norm, pooling, classifier; or the segmentation head
  PartCost auxiliary;  // the segmentation model's second head, which only training runs

  std::int64_t flops() const;
  // Forward and backward.
  std::int64_t training_flops() const;
  std::int64_t parameters() const;
};

ModelCost model_cost(const SwinConfig& config);

}  // namespace swinscope
