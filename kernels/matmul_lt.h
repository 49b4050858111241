// A GEMM by cuBLASLt: descriptors, the algorithms that it proposes for a shape, and the launch of the chosen one.
#pragma once

#include <string>
#include <vector>

#include <cublasLt.h>

#include "kernels/matmul.h"

namespace swinscope::cuda {

// For all products of a library, which follow each other on one stream.
constexpr std::int64_t kLtWorkspaceBytes = std::int64_t{64} << 20;

// cuBLASLt thinks in columns: our row-major y[m, n] is its column-major n x m matrix, so b comes first.
class LtLayout {
 public:
  LtLayout(cudaDataType_t type, std::int64_t rows, std::int64_t columns, std::int64_t batch);
  ~LtLayout();
  LtLayout(const LtLayout&) = delete;
  LtLayout& operator=(const LtLayout&) = delete;
  LtLayout(LtLayout&&) = delete;
  LtLayout& operator=(LtLayout&&) = delete;
  cublasLtMatrixLayout_t get() const { return layout_; }

 private:
  cublasLtMatrixLayout_t layout_ = nullptr;
};

class LtMatmul : public Matmul {
 public:
  static constexpr int kMostCandidates = 128;

  // handle and workspace must outlive it.
  LtMatmul(cublasLtHandle_t handle, const MatmulShape& shape, void* workspace);
  ~LtMatmul() override;
  LtMatmul(const LtMatmul&) = delete;
  LtMatmul& operator=(const LtMatmul&) = delete;
  LtMatmul(LtMatmul&&) = delete;
  LtMatmul& operator=(LtMatmul&&) = delete;

  void run(const MatmulOperands& operands, Stream stream) const override;
  cublasStatus_t try_launch(const cublasLtMatmulAlgo_t& algorithm, const MatmulOperands& operands, Stream stream) const;

  // What cuBLASLt proposes, best first by its own reckoning; may be nothing.
  std::vector<cublasLtMatmulAlgo_t> candidates(int most = kMostCandidates) const;
  bool accepts(const cublasLtMatmulAlgo_t& algorithm) const;
  void use(const cublasLtMatmulAlgo_t& algorithm) { algorithm_ = algorithm; }

 private:
  bool integers() const { return shape_.arithmetic == MatmulArithmetic::kInt8; }

  template <typename Value>
  void set(cublasLtMatmulDescAttributes_t attribute, const Value& value) const;

  cublasLtHandle_t handle_;
  MatmulShape shape_;
  void* workspace_;
  LtLayout b_;
  LtLayout a_;
  LtLayout y_;
  cublasLtMatmulDesc_t description_ = nullptr;
  cublasLtMatmulAlgo_t algorithm_{};
};

}  // namespace swinscope::cuda
