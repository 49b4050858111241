#include "analyzer/experiment/gpu_price.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "analyzer/base/text.h"
#include "store/error.h"

namespace swinscope {

bool GpuPrice::is_of(std::string_view gpu_name) const { return contains_any_case(gpu_name, gpu); }

double GpuPrice::cost(int gpus, double ns) const {
  constexpr double kNsOfHour = 3'600e9;
  return per_hour * gpus * ns / kNsOfHour;
}

GpuPrice parse_gpu_price(const std::string& text) {
  const std::size_t equals = text.find('=');
  const bool names_gpu = equals != std::string::npos;
  const std::string amount = names_gpu ? text.substr(equals + 1) : text;
  GpuPrice price{names_gpu ? text.substr(0, equals) : "", 0.0};
  const auto [end, error] = std::from_chars(amount.data(), amount.data() + amount.size(), price.per_hour);
  const bool is_number = error == std::errc() && end == amount.data() + amount.size();
  if (!is_number || !price.is_given() || !std::isfinite(price.per_hour) || (names_gpu && price.gpu.empty())) {
    throw Error(ErrorKind::kUsage, fmt::format("--price {}: no price", text), {},
                "give what a GPU costs an hour, such as 3.5 or h200=3.5");
  }
  return price;
}

}  // namespace swinscope
