// What tensor cores ask of convolutions: several channels, and those of a pixel side by side. What that costs PyTorch's
// convolutional networks in 16 bits, whose images lie channel by channel.
#pragma once

#include "advisor/rates.h"
#include "advisor/work.h"

namespace swinscope {

// ns of the kernels that come with it: those that transpose images, filters and results around a convolution whose
// filters have several pixels, and those of a batch normalization that cuDNN has no kernel for in 16 bits. 0: none do.
double kernels_beside_ns(const WorkItem& item, const Rates& rates);

// Whether tensor cores can have it: not a convolution whose filters read fewer than 4 channels, as the first one of
// most networks and depthwise ones do. What cuDNN computes these with takes as long in fewer bits.
bool fits_tensor_cores(const WorkItem& item);

}  // namespace swinscope
