#include "kernels/matmul_lt.h"

#include <algorithm>
#include <array>

#include "kernels/cuda_call.h"

namespace swinscope::cuda {
namespace {

constexpr std::uint32_t kAlignment = 16;

cudaDataType_t data_type(ElementType type) {
  switch (type) {
    case ElementType::kFp16:
      return CUDA_R_16F;
    case ElementType::kBf16:
      return CUDA_R_16BF;
    case ElementType::kFp32:
      break;
  }
  return CUDA_R_32F;
}

cudaDataType_t operand_data_type(const MatmulShape& shape) {
  if (shape.arithmetic == MatmulArithmetic::kFp8) return CUDA_R_8F_E4M3;
  if (shape.arithmetic == MatmulArithmetic::kInt8) return CUDA_R_8I;
  return data_type(shape.operand_type);
}

cudaDataType_t result_data_type(const MatmulShape& shape) {
  return shape.arithmetic == MatmulArithmetic::kInt8 ? CUDA_R_32I : data_type(shape.result_type);
}

cublasComputeType_t compute_type(MatmulArithmetic arithmetic) {
  if (arithmetic == MatmulArithmetic::kInt8) return CUBLAS_COMPUTE_32I;
  return arithmetic == MatmulArithmetic::kTf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

cublasLtEpilogue_t epilogue_of(Epilogue epilogue) {
  switch (epilogue) {
    case Epilogue::kBias:
      return CUBLASLT_EPILOGUE_BIAS;
    case Epilogue::kBiasGelu:
      return CUBLASLT_EPILOGUE_GELU_BIAS;
    case Epilogue::kNone:
      break;
  }
  return CUBLASLT_EPILOGUE_DEFAULT;
}

}  // namespace

LtLayout::LtLayout(cudaDataType_t type, std::int64_t rows, std::int64_t columns, std::int64_t batch) {
  SWINSCOPE_CUDA(cublasLtMatrixLayoutCreate(&layout_, type, static_cast<std::uint64_t>(rows),
                                            static_cast<std::uint64_t>(columns), rows));
  const auto count = static_cast<std::int32_t>(batch);
  const std::int64_t stride = rows * columns;
  SWINSCOPE_CUDA(cublasLtMatrixLayoutSetAttribute(layout_, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count)));
  SWINSCOPE_CUDA(
      cublasLtMatrixLayoutSetAttribute(layout_, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof(stride)));
}

LtLayout::~LtLayout() { (void)cublasLtMatrixLayoutDestroy(layout_); }

template <typename Value>
void LtMatmul::set(cublasLtMatmulDescAttributes_t attribute, const Value& value) const {
  SWINSCOPE_CUDA(cublasLtMatmulDescSetAttribute(description_, attribute, &value, sizeof(value)));
}

LtMatmul::LtMatmul(cublasLtHandle_t handle, const MatmulShape& shape, void* workspace)
    : handle_(handle),
      shape_(shape),
      workspace_(workspace),
      b_(operand_data_type(shape), shape.transpose_b ? shape.k : shape.n, shape.transpose_b ? shape.n : shape.k,
         shape.batch),
      a_(operand_data_type(shape), shape.transpose_a ? shape.m : shape.k, shape.transpose_a ? shape.k : shape.m,
         shape.batch),
      y_(result_data_type(shape), shape.n, shape.m, shape.batch) {
  SWINSCOPE_CUDA(
      cublasLtMatmulDescCreate(&description_, compute_type(shape.arithmetic), integers() ? CUDA_R_32I : CUDA_R_32F));
  if (shape.arithmetic == MatmulArithmetic::kFp8) set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1});
  set(CUBLASLT_MATMUL_DESC_TRANSA, shape.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(CUBLASLT_MATMUL_DESC_TRANSB, shape.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(shape.epilogue));
  if (shape.spare_multiprocessors > 0) {
    set(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET,
        std::int32_t{std::max(1, device_info().multiprocessors - shape.spare_multiprocessors)});
  }
}

LtMatmul::~LtMatmul() { (void)cublasLtMatmulDescDestroy(description_); }

void LtMatmul::run(const MatmulOperands& operands, Stream stream) const {
  SWINSCOPE_CUDA(try_launch(algorithm_, operands, stream));
}

cublasStatus_t LtMatmul::try_launch(const cublasLtMatmulAlgo_t& algorithm, const MatmulOperands& operands,
                                    Stream stream) const {
  if (shape_.epilogue != Epilogue::kNone) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, operands.bias);
  const float one = 1.0F;
  const float zero = 0.0F;
  const std::int32_t integer_one = 1;
  const std::int32_t integer_zero = 0;
  const auto factor = [&](bool is_one) -> const void* {
    if (integers()) return is_one ? &integer_one : &integer_zero;
    return is_one ? &one : &zero;
  };
  return cublasLtMatmul(handle_, description_, factor(true), operands.b, b_.get(), operands.a, a_.get(),
                        factor(shape_.accumulate), operands.y, y_.get(), operands.y, y_.get(), &algorithm, workspace_,
                        static_cast<std::size_t>(kLtWorkspaceBytes), stream);
}

std::vector<cublasLtMatmulAlgo_t> LtMatmul::candidates(int most) const {
  cublasLtMatmulPreference_t preference = nullptr;
  SWINSCOPE_CUDA(cublasLtMatmulPreferenceCreate(&preference));
  const auto workspace = static_cast<std::uint64_t>(kLtWorkspaceBytes);
  std::array<cublasLtMatmulHeuristicResult_t, kMostCandidates> results{};
  int found = 0;
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
    return cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof(value));
  };
  cublasStatus_t status = prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace);
  for (const auto attribute :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    if (status == CUBLAS_STATUS_SUCCESS) status = prefer(attribute, kAlignment);
  }
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = cublasLtMatmulAlgoGetHeuristic(handle_, description_, b_.get(), a_.get(), y_.get(), y_.get(), preference,
                                            std::min(most, kMostCandidates), results.data(), &found);
  }
  (void)cublasLtMatmulPreferenceDestroy(preference);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) return {};
  SWINSCOPE_CUDA(status);
  std::vector<cublasLtMatmulAlgo_t> algorithms;
  for (int i = 0; i < found; ++i) {
    const auto& result = results[static_cast<std::size_t>(i)];
    if (result.state == CUBLAS_STATUS_SUCCESS) algorithms.push_back(result.algo);
  }
  return algorithms;
}

bool LtMatmul::accepts(const cublasLtMatmulAlgo_t& algorithm) const {
  cublasLtMatmulHeuristicResult_t result{};
  const cublasStatus_t status =
      cublasLtMatmulAlgoCheck(handle_, description_, b_.get(), a_.get(), y_.get(), y_.get(), &algorithm, &result);
  return status == CUBLAS_STATUS_SUCCESS && result.workspaceSize <= static_cast<std::size_t>(kLtWorkspaceBytes);
}

}  // namespace swinscope::cuda
