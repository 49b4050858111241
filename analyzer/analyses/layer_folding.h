// Equal layers as one row: the blocks of a stage do the same work on the same shapes, so that hundreds of rows say what
// a dozen do.
//
// Layers are equal where their paths differ in one number only, that of the innermost component with one which is not
// the last ("stage3.block5.attn.qkv" and "stage3.block6.attn.qkv", but not "mlp.fc1" and "mlp.fc2"), and phase,
// operation, precision, input dimensions, and FLOPs and bytes of a call are the same. Their sums are summed; the path
// has `*` in place of the number. Rows with the most time come first.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/analyses/layers.h"

namespace swinscope {

struct FoldedLayers {
  LayerRow row;             // their sum; `host.median` is the first one's
  std::int64_t layers = 1;  // that were equal
};

std::vector<FoldedLayers> fold_equal_layers(const std::vector<LayerRow>& rows);

// "stage3.block5.attn.qkv" -> "stage3.block*.attn.qkv"; without such a number the path itself.
std::string folded_path(std::string_view path);

// Their table: the columns of layer_rows_table() behind the number of equal layers.
Table folded_layers_table(const RunFacts& run);

}  // namespace swinscope
