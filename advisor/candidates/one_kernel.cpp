#include "advisor/candidates/one_kernel.h"

#include <algorithm>

namespace swinscope {
namespace {

bool is_wide(std::string_view precision) { return precision == "fp32" || precision == "tf32"; }

std::array<double, 3> times_in(std::string_view precision, const ProductDemand& demand, const Reached& reached,
                               const Work& work) {
  const double bytes_ns = work.bytes_ns(demand.values * (is_wide(precision) ? 4 : 2));
  const double product_rate = work.rates()->best_product_rate(precision).value_or(0);
  std::array<double, 3> ns{};
  for (std::size_t i = 0; i < ns.size(); ++i) {
    ns[i] = bytes_ns / reached.of_copies[i];
    if (product_rate > 0) ns[i] = std::max(ns[i], demand.flops / product_rate / reached.of_products[i]);
  }
  return ns;
}

}  // namespace

NewTimes times_of(const ProductDemand& demand, const Reached& reached, const Work& work) {
  return {times_in(demand.precision, demand, reached, work),
          times_in(is_wide(demand.precision) ? "fp16" : demand.precision, demand, reached, work)};
}

}  // namespace swinscope
