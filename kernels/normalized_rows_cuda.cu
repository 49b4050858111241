// Launches normalization with the GEMM after it for rows of 256 channels (hopper_normalized_rows.cuh). It chooses how
// many blocks share the outputs of a tile: each of them normalizes the rows anew, fewer leave multiprocessors idle.
#include <algorithm>
#include <bit>
#include <limits>

#include "kernels/check.h"
#include "kernels/cuda_call.h"
#include "kernels/hopper_normalized_rows.cuh"
#include "kernels/normalized_rows.h"

namespace swinscope::cuda {
namespace {

constexpr int kSquareTile = 2;  // of hopper::kTileSizes: boxes of 128 rows of the weights
static_assert(hopper::kTileSizes[kSquareTile].columns == hopper::kRowColumns);
static_assert(kNormalizedRowsColumns == hopper::kRowColumns && kNormalizedTileRows == hopper::kGroupRows);
static_assert(kMostNormalizedRowsOutputs == hopper::NormalizedRowsPlan<__half, hopper::Finish::kPlain>::kMostOutputs);

// In how many shares blocks have the outputs, so that the last turn leaves few of them idle. Each share normalizes the
// rows anew, which takes about as long as 128 outputs do.
template <typename P>
int shares_of(int tiles, int parts) {
  const int multiprocessors = device_info().multiprocessors;
  int best = 1;
  int least = std::numeric_limits<int>::max();
  for (int shares = 1; shares <= std::min(parts, multiprocessors); ++shares) {
    if (parts % shares != 0) continue;
    const int at_once = P::kGroups * std::min(tiles, multiprocessors / shares);
    const int time = (tiles + at_once - 1) / at_once * (parts / shares + 1);
    if (time < least) {
      least = time;
      best = shares;
    }
  }
  return best;
}

template <typename P>
void launch(const NormalizedRowsShape& shape, const NormalizedRowsTensors& t, Stream stream) {
  using T = typename P::T;
  const auto kernel = hopper::normalized_rows_kernel<P>;
  static const bool ready = [kernel] {
    SWINSCOPE_CUDA(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(P::kSharedBytes)));
    return true;
  }();
  require(ready, "normalized_rows", "the kernel is not ready");
  hopper::NormalizedRowsArguments<T> a{};
  a.rows = static_cast<int>(shape.rows);
  a.outputs = static_cast<int>(shape.outputs);
  const int tiles = (a.rows + hopper::kGroupRows - 1) / hopper::kGroupRows;
  a.first_tile = shape.backwards ? tiles - 1 : 0;
  a.tile_step = shape.backwards ? -1 : 1;
  a.x = static_cast<const T*>(t.x);
  a.gamma = static_cast<const T*>(t.gamma);
  a.beta = static_cast<const T*>(t.beta);
  a.bias = static_cast<const T*>(t.bias);
  a.y = static_cast<T*>(t.y);
  hopper::ProductForm form;
  form.m = shape.rows;
  form.n = shape.outputs;
  form.k = shape.inputs;
  form.type = shape.type;
  const auto weight_map = std::bit_cast<CUtensorMap>(hopper::make_maps(form, kSquareTile, t.weight, t.weight).b);
  const int shares = shares_of<P>(tiles, a.outputs / hopper::kRowColumns);
  LaunchShape launch;
  launch.grid = dim3(static_cast<unsigned>(std::min(tiles, device_info().multiprocessors / shares)),
                     static_cast<unsigned>(shares));
  launch.block = dim3(P::kThreads);
  launch.shared_bytes = P::kSharedBytes;
  launch_early(kernel, launch, stream, weight_map, a);
}

template <typename T>
void launch_finish(const NormalizedRowsShape& shape, const NormalizedRowsTensors& tensors, Stream stream) {
  if (shape.gelu) return launch<hopper::NormalizedRowsPlan<T, hopper::Finish::kGelu>>(shape, tensors, stream);
  launch<hopper::NormalizedRowsPlan<T, hopper::Finish::kPlain>>(shape, tensors, stream);
}

}  // namespace

void normalized_rows_forward(const NormalizedRowsShape& shape, const NormalizedRowsTensors& tensors, Stream stream) {
  static const DeviceInfo gpu = device_info();
  require(normalized_rows_offered(shape, gpu), "normalized_rows", "there is no kernel for it here");
  require(tensors.x != nullptr && tensors.gamma != nullptr && tensors.beta != nullptr && tensors.weight != nullptr &&
              tensors.y != nullptr,
          "normalized_rows", "x, gamma, beta, weight and y are needed");
  if (shape.rows == 0) return;
  if (shape.type == ElementType::kFp16) return launch_finish<__half>(shape, tensors, stream);
  launch_finish<__nv_bfloat16>(shape, tensors, stream);
}

}  // namespace swinscope::cuda
