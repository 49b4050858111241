// Which path the backward pass of window attention takes, and what follows either: the sums over windows become the
// gradients of the bias table, the logit scale and the qkv bias.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/bias.h"
#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/partial_sums.h"
#include "kernels/window_attention_backward.cuh"
#include "kernels/window_attention_backward.h"

namespace swinscope::cuda {
namespace {

constexpr const char* kOperation = "window_attention_backward";
constexpr std::int64_t kBlocksEach = 3;  // of a multiprocessor: see the kernel's launch bounds
constexpr int kTableThreads = 128;

bool pads(const WindowAttentionShape& shape, TokenOrder order) {
  return shape.grid.padded() && order == TokenOrder::kImage;
}

BackwardWorkspace places_of(const WindowAttentionShape& shape, ElementType type, TokenOrder order) {
  BackwardWorkspace places;
  if (attention_on_tensor_cores(shape, type)) {
    // As many blocks as the GPU holds at once, with about equally many windows each.
    const std::int64_t windows = std::max<std::int64_t>(shape.grid.window_count(), 1);
    const std::int64_t blocks = (multiprocessors() - shape.spare_multiprocessors) * kBlocksEach;
    const std::int64_t most = std::max<std::int64_t>(1, blocks / shape.heads);
    const std::int64_t turns = (windows + most - 1) / most;
    places.shares = (windows + turns - 1) / turns;
    places.pairs = backward::kPairs;
    places.heads = shape.heads;
    places.column_shares = places.shares * backward::kRowTiles;
    places.channels = shape.channels();
    return places;
  }
  places = general_backward_workspace(shape);
  if (pads(shape, order)) {
    places.padding_bytes =
        shape.grid.window_count() * shape.grid.window_tokens() * 3 * shape.channels() * element_bytes(type);
  }
  return places;
}

template <typename T, int kBlocks, bool kCosine>
void launch_kernel(const backward::Arguments<T>& arguments, std::int64_t shares, Stream stream) {
  auto kernel = backward::attention_backward_kernel<T, kBlocks, kCosine, false>;
  if constexpr (std::is_same_v<T, __half>) {
    if (arguments.copy.bytes != nullptr) kernel = backward::attention_backward_kernel<T, kBlocks, kCosine, true>;
  }
  SWINSCOPE_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(backward::kSharedBytes)));
  const dim3 grid(static_cast<unsigned>(shares), static_cast<unsigned>(arguments.heads));
  launch_early(kernel, {grid, dim3(backward::kThreads), backward::kSharedBytes}, stream, arguments);
}

template <typename T>
void launch_backward(const WindowAttentionShape& shape, TokenOrder order, const WindowAttentionGradientTensors& tensors,
                     const BackwardWorkspace& places, Stream stream) {
  backward::Arguments<T> arguments{};
  arguments.geometry = WindowGeometry::of(shape.grid, order);
  arguments.windows = static_cast<int>(shape.grid.window_count());
  arguments.heads = static_cast<int>(shape.heads);
  arguments.scale = backward::kLog2e / std::sqrt(static_cast<float>(backward::kHeadDim));
  arguments.qkv = static_cast<const T*>(tensors.qkv);
  arguments.bias = static_cast<const __half*>(tensors.bias);
  arguments.logit_scale = tensors.logit_scale;
  arguments.pad_qkv = static_cast<const T*>(tensors.pad_qkv);
  arguments.lse = tensors.lse;
  arguments.dout = static_cast<const T*>(tensors.dout);
  arguments.dqkv = static_cast<T*>(tensors.dqkv);
  arguments.share_sums = places.share_sums(tensors.workspace);
  arguments.scale_sums = places.scale_sums(tensors.workspace);
  arguments.column_sums = places.column_sums(tensors.workspace);
  arguments.copy = tensors.copy;
  if (shape.score == AttentionScore::kCosine) {
    launch_kernel<T, 8, true>(arguments, places.shares, stream);
  } else if (shape.grid.window_tokens() <= 56) {
    launch_kernel<T, 7, false>(arguments, places.shares, stream);
  } else {
    launch_kernel<T, 8, false>(arguments, places.shares, stream);
  }
}

// A warp a value of the table: the sum over the pairs of slots that are that far apart.
__global__ __launch_bounds__(kTableThreads) void table_kernel(int heads, int height, int width, PairSums pairs,
                                                              bool accumulate, float* dtable) {
  const int value = static_cast<int>((blockIdx.x * kTableThreads + threadIdx.x) / kWarp);
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int side = 2 * width - 1;
  if (value >= (2 * height - 1) * side * heads) return;
  const int head = value % heads;
  const int dy = value / heads / side - (height - 1);
  const int dx = value / heads % side - (width - 1);
  const int first_y = max(dy, 0);
  const int first_x = max(dx, 0);
  const int rows = height - abs(dy);
  const int columns = width - abs(dx);
  const float* const of_head = pairs.sums + head * pairs.head_stride;
  float sum = 0.0F;
  for (int i = lane; i < rows * columns; i += kWarp) {
    const int y = first_y + i / columns;
    const int x = first_x + i % columns;
    const int query = y * width + x;
    const int key = (y - dy) * width + x - dx;
    sum += of_head[pairs.query_stride == 0 ? backward::pair_place(query, key) : query * pairs.query_stride + key];
  }
  sum = sum_over(sum, kWarp);
  if (lane == 0) dtable[value] = accumulate ? dtable[value] + sum : sum;
}

// The rows of dqkv.
BiasShape rows_of(const WindowAttentionShape& shape, TokenOrder order) {
  const std::int64_t in_windows = shape.grid.window_count() * shape.grid.window_tokens();
  return {order == TokenOrder::kImage ? shape.grid.tokens() : in_windows, 3 * shape.channels()};
}
BiasShape padding_rows(const WindowAttentionShape& shape) { return rows_of(shape, TokenOrder::kWindow); }

// The gradient of the qkv bias.
void reduce_columns(const WindowAttentionShape& shape, ElementType type, TokenOrder order,
                    const WindowAttentionGradientTensors& tensors, const BackwardWorkspace& places, Stream stream) {
  const std::int64_t columns = 3 * shape.channels();
  if (places.column_shares > 0) {
    add_partial_sums({places.column_shares,
                      columns,
                      columns,
                      places.column_sums(tensors.workspace),
                      {tensors.dqkv_bias},
                      tensors.accumulate},
                     stream);
    return;
  }
  BiasGradientTensors sums;
  sums.dy = tensors.dqkv;
  sums.dbias = tensors.dqkv_bias;
  sums.accumulate = tensors.accumulate;
  sums.workspace = static_cast<char*>(places.padding(tensors.workspace)) + places.padding_bytes;
  bias_backward(rows_of(shape, order), type, sums, stream);
  if (!pads(shape, order)) return;
  sums.dy = places.padding(tensors.workspace);
  sums.accumulate = true;
  bias_backward(padding_rows(shape), type, sums, stream);
}

void reduce(const WindowAttentionShape& shape, ElementType type, TokenOrder order,
            const WindowAttentionGradientTensors& tensors, const BackwardWorkspace& places, Stream stream) {
  const std::int64_t pairs = places.heads * places.pairs;
  float* const sums = places.sums(tensors.workspace);
  add_partial_sums({places.shares, pairs, pairs, places.share_sums(tensors.workspace), {sums}, false}, stream);
  const std::int64_t query_stride = attention_on_tensor_cores(shape, type) ? 0 : shape.grid.window_tokens();
  table_gradient(shape, {sums, places.pairs, query_stride}, tensors.accumulate, tensors.dtable, stream);
  if (shape.score == AttentionScore::kCosine) {
    add_partial_sums({places.shares,
                      shape.heads,
                      shape.heads,
                      places.scale_sums(tensors.workspace),
                      {tensors.dlogit_scale},
                      tensors.accumulate},
                     stream);
  }
  reduce_columns(shape, type, order, tensors, places, stream);
}

void check(const WindowAttentionShape& shape, TokenOrder order, const WindowAttentionGradientTensors& tensors) {
  require(tensors.qkv != nullptr && tensors.bias != nullptr && tensors.lse != nullptr && tensors.dout != nullptr &&
              (tensors.dqkv != nullptr || tensors.copy.bytes != nullptr) && tensors.dtable != nullptr &&
              tensors.dqkv_bias != nullptr && tensors.workspace != nullptr,
          kOperation, "qkv, bias, lse, dout, dqkv, dtable, dqkv_bias and workspace are needed");
  require(shape.score != AttentionScore::kCosine || (tensors.logit_scale != nullptr && tensors.dlogit_scale != nullptr),
          kOperation, "the cosine score needs logit_scale and its gradient");
  require(!pads(shape, order) || tensors.pad_qkv != nullptr, kOperation, "a padded map needs pad_qkv");
  const Extent2 windows = shape.grid.windows();
  require(shape.grid.window_count() * std::max(windows.width, windows.height) < std::numeric_limits<int>::max() &&
              shape.grid.window_count() * shape.grid.window_tokens() < std::numeric_limits<int>::max(),
          kOperation, "too many windows");
}

}  // namespace

void table_gradient(const WindowAttentionShape& shape, const PairSums& pairs, bool accumulate, float* dtable,
                    Stream stream) {
  const Extent2 window = shape.grid.window;
  const std::int64_t values = bias_table_rows(window) * shape.heads;
  table_kernel<<<blocks_for(values * kWarp, kTableThreads), kTableThreads, 0, stream>>>(
      static_cast<int>(shape.heads), static_cast<int>(window.height), static_cast<int>(window.width), pairs, accumulate,
      dtable);
  SWINSCOPE_CUDA_LAUNCHED("table_kernel");
}

std::int64_t multiprocessors() {
  int device = 0;
  int count = 0;
  SWINSCOPE_CUDA(cudaGetDevice(&device));
  SWINSCOPE_CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return count;
}

std::int64_t attention_backward_workspace_bytes(const WindowAttentionShape& shape, ElementType type, TokenOrder order) {
  const BackwardWorkspace places = places_of(shape, type, order);
  if (places.column_shares > 0) return places.bytes();
  return places.bytes() + std::max(bias_backward_workspace_bytes(rows_of(shape, order)),
                                   bias_backward_workspace_bytes(padding_rows(shape)));
}

void window_attention_backward(const WindowAttentionShape& shape, ElementType type, TokenOrder order,
                               const WindowAttentionGradientTensors& tensors, Stream stream) {
  check(shape, order, tensors);
  if (shape.grid.batch == 0) {
    if (tensors.accumulate) return;
    clear(tensors.dtable, bias_table_rows(shape.grid.window) * shape.heads * 4, stream);
    if (shape.score == AttentionScore::kCosine) clear(tensors.dlogit_scale, shape.heads * 4, stream);
    clear(tensors.dqkv_bias, 3 * shape.channels() * 4, stream);
    return;
  }
  const BackwardWorkspace places = places_of(shape, type, order);
  require(tensors.copy.bytes == nullptr || (type == ElementType::kFp16 && attention_on_tensor_cores(shape, type)),
          kOperation, "a copy in 8 bits needs fp16 on tensor cores");
  if (places.padding_bytes > 0) clear(places.padding(tensors.workspace), places.padding_bytes, stream);
  if (!attention_on_tensor_cores(shape, type)) {
    general_attention_backward(shape, type, order, tensors, places, stream);
  } else if (type == ElementType::kFp16) {
    launch_backward<__half>(shape, order, tensors, places, stream);
  } else {
    launch_backward<__nv_bfloat16>(shape, order, tensors, places, stream);
  }
  reduce(shape, type, order, tensors, places, stream);
}

}  // namespace swinscope::cuda
