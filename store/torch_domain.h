// The name of the domain of PyTorch's operators, whatever recorded them.
#pragma once

#include <string_view>

namespace swinscope {

inline constexpr std::string_view kTorchOperatorDomain = "torch.cpu_op";

}  // namespace swinscope
