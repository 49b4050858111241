// For a bilinear enlargement on the device: the two input rows around the current output row, kept in registers while
// a thread walks down a column.
#pragma once

#include "kernels/bilinear_axis.cuh"
#include "kernels/channel_piece.cuh"

namespace swinscope::cuda {

// The two rows of a map between which a thread is that walks down the rows of the enlarged one. They stay in registers,
// so that an enlargement by s takes each from the cache 1 / s times an output instead of once.
template <int kLength>
class RowPair {
 public:
  // load_row(row): one row of the map at the thread's column.
  template <typename LoadRow>
  __device__ ChannelFloats<kLength> at(const BilinearAxis::Place& place, const LoadRow& load_row) {
    if (place.high != kept_) {
      upper_ = place.low == kept_ ? lower_ : load_row(place.low);
      lower_ = load_row(place.high);
      kept_ = place.high;
    } else if (place.low == place.high) {
      upper_ = lower_;
    }
    return between(upper_, lower_, place.weight);
  }

 private:
  ChannelFloats<kLength> upper_;
  ChannelFloats<kLength> lower_;
  int kept_ = -1;  // the row that lower_ is
};

}  // namespace swinscope::cuda
