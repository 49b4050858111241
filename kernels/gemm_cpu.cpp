#include <algorithm>
#include <climits>
#include <mutex>

#include <cblas.h>

#include "kernels/check.h"
#include "kernels/gemm.h"
#include "kernels/parallel.h"

namespace swinscope {
namespace {

// C is cut into tiles, each one single-threaded call. The cut depends on the shape alone, so that every
// element is added up in the same order whatever the thread count (OpenBLAS's own threads cut by thread
// count, which moves elements between its main and edge kernels).
struct Tiling {
  std::int64_t rows;
  std::int64_t columns;
};

constexpr std::int64_t kMaxTile = 512;
constexpr std::int64_t kMinTile = 64;
constexpr std::int64_t kEnoughTiles = 32;
constexpr std::int64_t kMinTileWork = std::int64_t{1} << 20;  // multiply-adds; below it packing and waking cost more

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

Tiling choose_tiling(std::int64_t m, std::int64_t n, std::int64_t k) {
  Tiling tile{std::min(m, kMaxTile), std::min(n, kMaxTile)};
  const auto halved = [](std::int64_t extent) { return ceil_div(ceil_div(extent, 2), 16) * 16; };
  while (ceil_div(m, tile.rows) * ceil_div(n, tile.columns) < kEnoughTiles) {
    std::int64_t& longer = tile.rows > tile.columns ? tile.rows : tile.columns;
    if (longer <= kMinTile || tile.rows * tile.columns * k / 2 < kMinTileWork) break;
    longer = halved(longer);
  }
  return tile;
}

struct LeadingDimensions {
  std::int64_t a;
  std::int64_t b;
  std::int64_t c;
};

LeadingDimensions leading_dimensions(const GemmShape& shape) {
  const std::int64_t a_row = shape.transpose_a == Transpose::kNo ? shape.k : shape.m;
  const std::int64_t b_row = shape.transpose_b == Transpose::kNo ? shape.n : shape.k;
  const LeadingDimensions ld{shape.lda == 0 ? a_row : shape.lda, shape.ldb == 0 ? b_row : shape.ldb,
                             shape.ldc == 0 ? shape.n : shape.ldc};
  require(shape.m >= 0 && shape.n >= 0 && shape.k >= 0, "gemm", "negative extent");
  require(ld.a >= a_row && ld.b >= b_row && ld.c >= shape.n, "gemm", "leading dimension shorter than its row");
  require(std::max({shape.m, shape.n, shape.k, ld.a, ld.b, ld.c}) <= INT_MAX, "gemm", "extent beyond INT_MAX");
  return ld;
}

CBLAS_TRANSPOSE to_blas(Transpose transpose) { return transpose == Transpose::kNo ? CblasNoTrans : CblasTrans; }

void call_blas(const GemmShape& s, float alpha, const float* a, const float* b, float beta, float* c) {
  cblas_sgemm(CblasRowMajor, to_blas(s.transpose_a), to_blas(s.transpose_b), static_cast<int>(s.m),
              static_cast<int>(s.n), static_cast<int>(s.k), alpha, a, static_cast<int>(s.lda), b,
              static_cast<int>(s.ldb), beta, c, static_cast<int>(s.ldc));
}

void call_blas(const GemmShape& s, double alpha, const double* a, const double* b, double beta, double* c) {
  cblas_dgemm(CblasRowMajor, to_blas(s.transpose_a), to_blas(s.transpose_b), static_cast<int>(s.m),
              static_cast<int>(s.n), static_cast<int>(s.k), alpha, a, static_cast<int>(s.lda), b,
              static_cast<int>(s.ldb), beta, c, static_cast<int>(s.ldc));
}

void limit_blas_to_calling_thread() {
  static std::once_flag once;
  std::call_once(once, [] { openblas_set_num_threads(1); });
}

template <typename T>
void scale_rows(const GemmShape& shape, std::int64_t ldc, T beta, T* c) {
  for (std::int64_t i = 0; i < shape.m; ++i) {
    for (std::int64_t j = 0; j < shape.n; ++j)
      c[i * ldc + j] = beta == T{0} ? T{0} : beta * c[i * ldc + j];
  }
}

}  // namespace

OperationCost gemm_cost(const GemmShape& shape, bool accumulates, std::int64_t element_bytes) {
  const std::int64_t c = shape.m * shape.n;
  const std::int64_t inputs = shape.m * shape.k + shape.k * shape.n + (accumulates ? c : 0);
  return {2 * c * shape.k, inputs * element_bytes, c * element_bytes};
}

namespace cpu {

template <typename T>
void gemm(const GemmShape& shape, std::type_identity_t<T> alpha, const T* a, const T* b, std::type_identity_t<T> beta,
          T* c) {
  const LeadingDimensions ld = leading_dimensions(shape);
  if (shape.m == 0 || shape.n == 0) return;
  if (shape.k == 0) return scale_rows(shape, ld.c, beta, c);
  limit_blas_to_calling_thread();
  const Tiling tile = choose_tiling(shape.m, shape.n, shape.k);
  const std::int64_t tile_columns = ceil_div(shape.n, tile.columns);
  parallel_for(ceil_div(shape.m, tile.rows) * tile_columns, [&](std::int64_t task) {
    const std::int64_t row = task / tile_columns * tile.rows;
    const std::int64_t column = task % tile_columns * tile.columns;
    GemmShape part = shape;
    part.m = std::min(tile.rows, shape.m - row);
    part.n = std::min(tile.columns, shape.n - column);
    part.lda = ld.a;
    part.ldb = ld.b;
    part.ldc = ld.c;
    const T* part_a = a + (shape.transpose_a == Transpose::kNo ? row * ld.a : row);
    const T* part_b = b + (shape.transpose_b == Transpose::kNo ? column : column * ld.b);
    call_blas(part, alpha, part_a, part_b, beta, c + row * ld.c + column);
  });
}

template void gemm<float>(const GemmShape&, float, const float*, const float*, float, float*);
template void gemm<double>(const GemmShape&, double, const double*, const double*, double, double*);

}  // namespace cpu
}  // namespace swinscope
