// cuBLASLt's functions that we call, under their own names, each of which finds the library's at its first call: a
// program with CUDA parts starts where cuBLASLt is not installed, and only what multiplies on a GPU needs it. Throws
// cuda::Error where it is missing.
#include <cstddef>
#include <cstdint>
#include <string>

#include <cublasLt.h>
#include <dlfcn.h>

#include "kernels/device.h"

namespace swinscope::cuda {
namespace {

constexpr int kMajor = CUBLAS_VER_MAJOR;  // of the headers, and so of the library

void* open_cublaslt() {
  const std::string file = "libcublasLt.so." + std::to_string(kMajor);
  // By the loader's paths, where the build found it, and where toolkits are.
  for (const char* folder : {"", SWINSCOPE_CUDA_LIBRARIES "/", "/usr/local/cuda/lib64/"}) {
    void* const library = ::dlopen((folder + file).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) return library;
  }
  throw Error("cuBLASLt cannot be opened: there is no " + file + "; install the libraries of CUDA " +
                  std::to_string(kMajor) + ", or add their folder to LD_LIBRARY_PATH",
              false);
}

void* find(const char* name) {
  static void* const library = open_cublaslt();  // stays until the process ends; tried again where it throws
  void* const found = ::dlsym(library, name);
  if (found == nullptr) throw Error("cuBLASLt has no " + std::string(name), false);
  return found;
}

}  // namespace
}  // namespace swinscope::cuda

// The library's function of this name, looked up once.
#define SWINSCOPE_CUBLASLT(name)                                                                   \
  static auto* const function = reinterpret_cast<decltype(&::name)>(swinscope::cuda::find(#name)); \
  return function

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* light_handle) { SWINSCOPE_CUBLASLT(cublasLtCreate)(light_handle); }

cublasStatus_t cublasLtDestroy(cublasLtHandle_t light_handle) { SWINSCOPE_CUBLASLT(cublasLtDestroy)(light_handle); }

const char* cublasLtGetStatusString(cublasStatus_t status) { SWINSCOPE_CUBLASLT(cublasLtGetStatusString)(status); }

std::size_t cublasLtGetVersion() { SWINSCOPE_CUBLASLT(cublasLtGetVersion)(); }

cublasStatus_t cublasLtMatmul(cublasLtHandle_t light_handle, cublasLtMatmulDesc_t compute_desc, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t adesc, const void* b, cublasLtMatrixLayout_t bdesc,
                              const void* beta, const void* c, cublasLtMatrixLayout_t cdesc, void* d,
                              cublasLtMatrixLayout_t ddesc, const cublasLtMatmulAlgo_t* algo, void* workspace,
                              std::size_t workspace_size_in_bytes, cudaStream_t stream) {
  SWINSCOPE_CUBLASLT(cublasLtMatmul)
  (light_handle, compute_desc, alpha, a, adesc, b, bdesc, beta, c, cdesc, d, ddesc, algo, workspace,
   workspace_size_in_bytes, stream);
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t light_handle, cublasLtMatmulDesc_t operation_desc,
                                       cublasLtMatrixLayout_t adesc, cublasLtMatrixLayout_t bdesc,
                                       cublasLtMatrixLayout_t cdesc, cublasLtMatrixLayout_t ddesc,
                                       const cublasLtMatmulAlgo_t* algo, cublasLtMatmulHeuristicResult_t* result) {
  SWINSCOPE_CUBLASLT(cublasLtMatmulAlgoCheck)(light_handle, operation_desc, adesc, bdesc, cdesc, ddesc, algo, result);
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t light_handle, cublasLtMatmulDesc_t operation_desc,
                                              cublasLtMatrixLayout_t adesc, cublasLtMatrixLayout_t bdesc,
                                              cublasLtMatrixLayout_t cdesc, cublasLtMatrixLayout_t ddesc,
                                              cublasLtMatmulPreference_t preference, int requested_algo_count,
                                              cublasLtMatmulHeuristicResult_t* heuristic_results_array,
                                              int* return_algo_count) {
  SWINSCOPE_CUBLASLT(cublasLtMatmulAlgoGetHeuristic)
  (light_handle, operation_desc, adesc, bdesc, cdesc, ddesc, preference, requested_algo_count, heuristic_results_array,
   return_algo_count);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* matmul_desc, cublasComputeType_t compute_type,
                                        cudaDataType_t scale_type) {
  SWINSCOPE_CUBLASLT(cublasLtMatmulDescCreate)(matmul_desc, compute_type, scale_type);
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t matmul_desc) {
  SWINSCOPE_CUBLASLT(cublasLtMatmulDescDestroy)(matmul_desc);
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t matmul_desc, cublasLtMatmulDescAttributes_t attr,
                                              const void* buf, std::size_t size_in_bytes) {
  SWINSCOPE_CUBLASLT(cublasLtMatmulDescSetAttribute)(matmul_desc, attr, buf, size_in_bytes);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* pref) {
  SWINSCOPE_CUBLASLT(cublasLtMatmulPreferenceCreate)(pref);
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t pref) {
  SWINSCOPE_CUBLASLT(cublasLtMatmulPreferenceDestroy)(pref);
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t pref,
                                                    cublasLtMatmulPreferenceAttributes_t attr, const void* buf,
                                                    std::size_t size_in_bytes) {
  SWINSCOPE_CUBLASLT(cublasLtMatmulPreferenceSetAttribute)(pref, attr, buf, size_in_bytes);
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* mat_layout, cudaDataType type, std::uint64_t rows,
                                          std::uint64_t cols, std::int64_t ld) {
  SWINSCOPE_CUBLASLT(cublasLtMatrixLayoutCreate)(mat_layout, type, rows, cols, ld);
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t mat_layout) {
  SWINSCOPE_CUBLASLT(cublasLtMatrixLayoutDestroy)(mat_layout);
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t mat_layout, cublasLtMatrixLayoutAttribute_t attr,
                                                const void* buf, std::size_t size_in_bytes) {
  SWINSCOPE_CUBLASLT(cublasLtMatrixLayoutSetAttribute)(mat_layout, attr, buf, size_in_bytes);
}

}  // extern "C"
