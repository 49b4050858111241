// What several products take when one kernel computes them and keeps what lies between on the chip: by what it has to
// read, write and compute.
#pragma once

#include <array>
#include <string_view>

#include "advisor/change.h"
#include "advisor/work.h"

namespace swinscope {

struct ProductDemand {
  double values = 0;  // that it reads and writes
  double flops = 0;
  std::string_view precision;
};

// Of the rates that such kernels reach, by Estimate: those of copies, those of the best products.
struct Reached {
  std::array<double, 3> of_copies;
  std::array<double, 3> of_products;
};

// By whichever takes longer. The work has rates.
NewTimes times_of(const ProductDemand& demand, const Reached& reached, const Work& work);

}  // namespace swinscope
