// What a GPU costs an hour, as the user says, in any currency.
#pragma once

#include <string>
#include <string_view>

namespace swinscope {

struct GpuPrice {
  std::string gpu;        // a part of the name that it is of: "h200"; empty: of any
  double per_hour = 0.0;  // of one GPU; 0: not given
  bool is_given() const { return per_hour > 0; }
  // Whether it is the price of this GPU ("NVIDIA H200"), whatever the case of letters.
  bool is_of(std::string_view gpu_name) const;
  // Of so many for so many nanoseconds.
  double cost(int gpus, double ns) const;
};

// "3.5" or "h200=3.5". Throws Error(kUsage), naming --price, for what is neither, or no price above 0.
GpuPrice parse_gpu_price(const std::string& text);

}  // namespace swinscope
