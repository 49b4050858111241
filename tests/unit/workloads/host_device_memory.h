// Between the files of host_device.h: streams, graphs, and values of any element type as floats.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/delayed_scale.h"
#include "kernels/layernorm.h"
#include "kernels/window_attention.h"

struct CUstream_st;
struct CUgraphExec_st {
  std::vector<std::function<void()>> work;
  std::vector<CUstream_st*> joined;  // streams that came in while it was captured, through an event
};
struct CUstream_st {
  CUgraphExec_st* capturing = nullptr;
  // While it is captured as one that came in: its pieces of work, and how many of them another stream waits for.
  std::size_t pieces = 0;
  std::size_t awaited = 0;
};

namespace swinscope::test {

// Runs the work or, while the stream is captured, keeps it. `operation`: what a recording writes down.
void launch(cuda::Stream stream, std::function<void()> work, const std::string& operation = __builtin_FUNCTION());

std::vector<float> load(ElementType type, const void* from, std::int64_t count);
// Rounds to nearest.
void store(ElementType type, const std::vector<float>& values, void* to);
// In 8 bits, times or over a scale.
std::vector<float> load_bytes(ByteFormat format, const void* from, std::int64_t count, float scale = 1.0F);
void store_bytes(ByteFormat format, const std::vector<float>& values, float scale, void* to);

using Floats = std::vector<float>;
// What a kernel has left in `from` goes to 8 bits, too.
void copy_bytes(ElementType type, const void* from, std::int64_t count, const cuda::ByteCopy& copy);
// A kernel's result: where it is wanted, and in 8 bits where that is.
void store(ElementType type, const Floats& values, void* to, const cuda::ByteCopy& copy);
inline Floats zeros(std::int64_t count) { return Floats(static_cast<std::size_t>(count)); }
// LN(x) gamma + beta.
Floats normalized(const LayerNormShape& shape, const Floats& x, const Floats& gamma, const Floats& beta);
void gelu_tanh(Floats& values);  // in place
// What a gradient in fp32 is before this pass.
inline void begin_gradient(float* gradient, std::int64_t count, bool accumulate) {
  if (!accumulate && gradient != nullptr) std::fill_n(gradient, count, 0.0F);
}

// Rows of windows, of which some are padding, and of tokens in either order.
inline std::int64_t window_rows(const WindowGrid& grid) { return grid.window_count() * grid.window_tokens(); }
inline std::int64_t rows_of(const WindowGrid& grid, cuda::TokenOrder order) {
  return order == cuda::TokenOrder::kImage ? grid.tokens() : window_rows(grid);
}
inline std::int64_t token_of(const WindowGrid& grid, std::int64_t row) {
  return window_token(grid, row / grid.window_tokens(), row % grid.window_tokens());
}

}  // namespace swinscope::test
