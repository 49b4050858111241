// The models of model_table.h as graphs, written once, forward only: Swin Transformer V1 and V2 with a classifier
// (swin.cpp) or with UPerNet's head for segmentation (uper.cpp). Backward pass, cost, memory and parameters follow from
// the graph.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/graph/builder.h"
#include "workloads/models/model_table.h"

namespace swinscope {

// Both count from 0.
struct BlockIndex {
  int stage = 0;
  int block = 0;
};

struct ModelOptions {
  bool training = false;   // with a backward pass
  double drop_path = 0.0;  // stochastic depth of the last block; training only
  std::uint64_t seed = 0;  // of stochastic depth
  // Blocks replaced by the identity: what does a block contribute? (Their gradients stay zero.)
  std::vector<BlockIndex> identity_blocks = {};
  bool tap_fusion = false;  // segmentation: the head's last convolution part by part, each at its own size
};

int block_count(const SwinConfig& config);
// The input with the scales of stochastic depth, [batch], of one half of a block; `block` counts through the model.
std::string drop_path_name(int block, int half);

// Inputs: images, and where training drops anything the scales above. Outputs: logits, auxiliary (training of
// segmentation), and for comparisons stem, stage1 and so on, and normalized (classification). `ranks`: that batches are
// normalized over.
Graph build_model(const SwinConfig& config, std::int64_t batch, const ModelOptions& options, DataType type,
                  int ranks = 1);
// The same without a backward pass.
Graph build_forward(const SwinConfig& config, std::int64_t batch, const ModelOptions& options, DataType type,
                    int ranks = 1);

// UPerNet's head on the stages' outputs: the logits and, in training, the auxiliary ones.
void add_segmentation_head(GraphBuilder& g, const SwinConfig& config, const ModelOptions& options,
                           const std::vector<TensorId>& stages);
// Throws WorkloadError (kUsage) for a configuration whose head cannot be built, std::invalid_argument for another task.
void check_segmentation(const SwinConfig& config);

}  // namespace swinscope
