// Where a stream computes attention with a kernel for each of its parts: product, softmax, product, and what lies
// between and beside these.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "advisor/candidates/one_kernel.h"
#include "advisor/work.h"

namespace swinscope {

struct AttentionPlace {  // of the stream's items
  std::size_t begin = 0;
  std::size_t end = 0;
  bool is_backward = false;
};
std::vector<AttentionPlace> attention_places(const std::vector<WorkItem>& items);

// By the program's own words, where it has any: "stage1.block1.attn.scores" and "stage1.block1.attn.values".
bool are_of_one_block(const WorkItem& a, const WorkItem& b);

// Of the products of a place; nothing where their shapes are not known. Scores are neither read nor written.
std::optional<ProductDemand> attention_demand(const std::vector<const WorkItem*>& chain);

}  // namespace swinscope
