// What 16 bits cost PyTorch's convolutional networks whose images lie channel by channel: convolutions on tensor cores
// want the channels of a pixel side by side.
#pragma once

#include "advisor/rates.h"
#include "advisor/work.h"

namespace swinscope {

// ns of the kernels that come with it: those that transpose images, filters and results around a convolution whose
// filters have several pixels, and those of a batch normalization that cuDNN has no kernel for in 16 bits. 0: none do.
double kernels_beside_ns(const WorkItem& item, const Rates& rates);

}  // namespace swinscope
