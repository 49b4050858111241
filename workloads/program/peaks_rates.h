// What a GPU reaches over the shapes of vision transformers and ResNets, as a file for the advisor: products by
// precision, elementwise kernels by bytes, epilogues, and what launches cost (schema swinscope.rates/1, described in
// docs/workloads.md).
//
// A time is that of a kernel from its start to its end, as profilers show it: many launches stand in a graph, of which
// several follow each other, and from the time of each launch the gap between two kernels of a graph is taken away.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "workloads/program/peaks_measure.h"

namespace swinscope {

struct RateRow {
  std::string precision;
  cuda::MatmulShape shape;
  double ns = 0.0;
  std::string left_out;  // why there is no time
};

struct BytesRow {
  std::int64_t bytes = 0;  // read and written
  double ns = 0.0;
};

// The products of one precision: linear layers forward and backward by tokens and width, and those of attention in
// batches of windows.
std::vector<cuda::MatmulShape> rate_shapes(const ProductPrecision& precision);
// Products with a bias, and with bias and GELU, of shapes that rate_shapes() has without.
std::vector<RateRow> epilogue_rows();

// Products by the fastest of the few algorithms that cuBLASLt recommends first, as frameworks use them. Weights come
// from memory, the other operand is the same each time.
class RateMeter {
 public:
  explicit RateMeter(double graph_gap_ns);
  ~RateMeter();
  RateMeter(const RateMeter&) = delete;
  RateMeter& operator=(const RateMeter&) = delete;
  RateMeter(RateMeter&&) = delete;
  RateMeter& operator=(RateMeter&&) = delete;

  // Sets `ns`, or `left_out` where the library has nothing for the shape.
  void measure(RateRow& row);
  // ReLU from one tensor to another, from 64 KiB to 2 GiB, again and again on the same ones.
  std::vector<BytesRow> measure_bytes() const;
  // The clock of the multiprocessors, in MHz: with one thread on the GPU, and right behind a second of large products.
  double light_clock_mhz() const;
  double loaded_clock_mhz();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Measures all of it and writes the file, whole or not at all. Throws WorkloadError (kUsage) before measuring where the
// file exists, unless `force`.
void write_rates(const std::filesystem::path& path, bool force);

}  // namespace swinscope
