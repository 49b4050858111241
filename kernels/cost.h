// OperationCost: the FLOPs and the compulsory bytes of an operation, which annotations carry and rooflines divide by
// the measured time. The headers of operations have the functions that return it.
#pragma once

#include <cstdint>

namespace swinscope {

// What one call of an operation must do at least, for annotations and rooflines.
//
// flops: 2 * multiply-accumulates of matrix products and convolutions only. Normalizations, softmax,
// activations and
//   element-wise arithmetic count zero, so that a model's sum is the figure people quote (Swin-T at 224 x
//   224: 8.98 GFLOP per image forward). A backward pass counts the products of the gradients and not what it
//   recomputes.
// bytes_read, bytes_written: compulsory traffic. Every input is read once and every output written once,
// caches and
//   workspaces not counted; a parameter gradient that is accumulated into is both read and written.
struct OperationCost {
  std::int64_t flops = 0;
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;

  constexpr OperationCost& operator+=(const OperationCost& other) {
    flops += other.flops;
    bytes_read += other.bytes_read;
    bytes_written += other.bytes_written;
    return *this;
  }
  friend constexpr OperationCost operator+(OperationCost a, const OperationCost& b) { return a += b; }
  friend constexpr bool operator==(const OperationCost&, const OperationCost&) = default;
};

}  // namespace swinscope
