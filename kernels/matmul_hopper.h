// Products by our own kernel on compute capability 9.0, as one of the ways among which matmul.h chooses.
#pragma once

#include <map>
#include <utility>

#include "kernels/hopper_product.h"
#include "kernels/matmul.h"

namespace swinscope::cuda {

class HopperMatmul : public Matmul {
 public:
  // late: see hopper::ProductPointers.
  HopperMatmul(const MatmulShape& shape, int tile, bool late = false);
  // Whether that tile size can compute it on this GPU.
  static bool fits(const MatmulShape& shape, int tile);

  void run(const MatmulOperands& operands, Stream stream) const override;
  bool turns() const override { return hopper::turns(tile_); }

 private:
  MatmulShape shape_;
  int tile_;
  bool late_;
  // By a and b: made once for each layer.
  mutable std::map<std::pair<const void*, const void*>, hopper::ProductMaps> maps_;
};

}  // namespace swinscope::cuda
