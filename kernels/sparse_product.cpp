#include "kernels/sparse_product.h"

#include <array>

#include <cuda_runtime.h>
#include <dlfcn.h>

#include "kernels/cuda_call.h"

namespace swinscope::cuda {
namespace {

constexpr const char* kFile = "libcusparseLt.so.0";
// Of 0.6 to 0.10 these functions and numbers are the same; what its descriptors take has been from 512 bytes to 13 KiB.
constexpr int kLeastMinor = 6;
constexpr int kMostMinor = 10;
constexpr std::size_t kOpaqueBytes = std::size_t{16} << 10;

struct alignas(16) Opaque {
  std::array<unsigned char, kOpaqueBytes> bytes{};
};

// Numbers of cuSPARSE's and cuSPARSELt's enumerations.
using Status = int;
constexpr Status kSuccess = 0;
constexpr int kNotTransposed = 0;
constexpr int kTransposed = 1;
constexpr int kColumnMajor = 1;
constexpr int kHalfOfThem = 0;
constexpr int kSumsInt32 = 0;
constexpr int kSumsFp32 = 2;
constexpr int kDefaultAlgorithm = 0;
constexpr int kPruneRows = 1;  // two of four in a row of w, not of a square

struct Functions {
  Status (*get_property)(libraryPropertyType, int*);
  const char* (*error_string)(Status);
  Status (*init)(Opaque*);
  Status (*destroy)(const Opaque*);
  Status (*dense)(const Opaque*, Opaque*, std::int64_t, std::int64_t, std::int64_t, std::uint32_t, cudaDataType, int);
  Status (*structured)(const Opaque*, Opaque*, std::int64_t, std::int64_t, std::int64_t, std::uint32_t, cudaDataType,
                       int, int);
  Status (*destroy_matrix)(const Opaque*);
  Status (*matmul_descriptor)(const Opaque*, Opaque*, int, int, const Opaque*, const Opaque*, const Opaque*,
                              const Opaque*, int);
  Status (*algorithm)(const Opaque*, Opaque*, const Opaque*, int);
  Status (*plan)(const Opaque*, Opaque*, const Opaque*, const Opaque*);
  Status (*destroy_plan)(const Opaque*);
  Status (*workspace)(const Opaque*, const Opaque*, std::size_t*);
  Status (*prune)(const Opaque*, const Opaque*, const void*, void*, int, cudaStream_t);
  Status (*compressed_size)(const Opaque*, const Opaque*, std::size_t*, std::size_t*);
  Status (*compress)(const Opaque*, const Opaque*, const void*, void*, void*, cudaStream_t);
  Status (*search)(const Opaque*, Opaque*, const void*, const void*, const void*, const void*, const void*, void*,
                   void*, cudaStream_t*, std::int32_t);
  Status (*matmul)(const Opaque*, const Opaque*, const void*, const void*, const void*, const void*, const void*, void*,
                   void*, cudaStream_t*, std::int32_t);
};

template <typename Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr) throw Error(std::string(kFile) + " has no " + name, false);
}

Functions open_library() {
  void* const library = ::dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(std::string("cuSPARSELt cannot be opened: ") + ::dlerror() + "; install it, or add the folder of " +
                    kFile + " to LD_LIBRARY_PATH",
                false);
  }
  Functions functions{};
  find(library, "cusparseLtGetProperty", functions.get_property);
  find(library, "cusparseLtGetErrorString", functions.error_string);
  find(library, "cusparseLtInit", functions.init);
  find(library, "cusparseLtDestroy", functions.destroy);
  find(library, "cusparseLtDenseDescriptorInit", functions.dense);
  find(library, "cusparseLtStructuredDescriptorInit", functions.structured);
  find(library, "cusparseLtMatDescriptorDestroy", functions.destroy_matrix);
  find(library, "cusparseLtMatmulDescriptorInit", functions.matmul_descriptor);
  find(library, "cusparseLtMatmulAlgSelectionInit", functions.algorithm);
  find(library, "cusparseLtMatmulPlanInit", functions.plan);
  find(library, "cusparseLtMatmulPlanDestroy", functions.destroy_plan);
  find(library, "cusparseLtMatmulGetWorkspace", functions.workspace);
  find(library, "cusparseLtSpMMAPrune", functions.prune);
  find(library, "cusparseLtSpMMACompressedSize", functions.compressed_size);
  find(library, "cusparseLtSpMMACompress", functions.compress);
  find(library, "cusparseLtMatmulSearch", functions.search);
  find(library, "cusparseLtMatmul", functions.matmul);
  int major = -1;
  int minor = -1;
  (void)functions.get_property(MAJOR_VERSION, &major);
  (void)functions.get_property(MINOR_VERSION, &minor);
  if (major != 0 || minor < kLeastMinor || minor > kMostMinor) {
    throw Error("cuSPARSELt " + std::to_string(major) + "." + std::to_string(minor) + " is not one of 0." +
                    std::to_string(kLeastMinor) + " to 0." + std::to_string(kMostMinor) + ", whose interface is known",
                false);
  }
  return functions;
}

const Functions& library() {
  static const Functions functions = open_library();  // tried again at the next call where it throws
  return functions;
}

void check(Status status, const char* call) {
  if (status != kSuccess) throw Error(std::string(call) + ": " + library().error_string(status), false);
}

// A handle, descriptor or plan, from when it was made.
struct Owned {
  Opaque opaque;
  Status (*destroy)(const Opaque*) = nullptr;

  Owned() = default;
  ~Owned() {
    if (destroy != nullptr) (void)destroy(&opaque);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Owned(Owned&&) = delete;
  Owned& operator=(Owned&&) = delete;

  void made(Status status, const char* call, Status (*by)(const Opaque*)) {
    check(status, call);
    destroy = by;
  }
};

cudaDataType operand_type(SparseOperands operands) {
  switch (operands) {
    case SparseOperands::kE4m3:
      return CUDA_R_8F_E4M3;
    case SparseOperands::kInt8:
      return CUDA_R_8I;
    case SparseOperands::kFp16:
      break;
  }
  return CUDA_R_16F;
}

constexpr std::uint32_t kAlignment = 16;
constexpr float kOne = 1.0F;
constexpr float kZero = 0.0F;

}  // namespace

bool sparse_products_offered(std::string* why) {
  try {
    (void)library();
    return true;
  } catch (const Error& error) {
    if (why != nullptr) *why = error.what();
    return false;
  }
}

struct SparseProduct::State {
  Owned handle;  // the last to be destroyed
  Owned x, w, y;
  Opaque descriptor, algorithm;
  Owned plan;
  std::unique_ptr<DeviceBuffer> compressed, workspace;

  void fit_workspace() {
    std::size_t bytes = 0;
    check(library().workspace(&handle.opaque, &plan.opaque, &bytes), "cusparseLtMatmulGetWorkspace");
    if (bytes == 0 || (workspace && workspace->bytes() >= static_cast<std::int64_t>(bytes))) return;
    workspace = std::make_unique<DeviceBuffer>(static_cast<std::int64_t>(bytes));
  }
  void* workspace_data() const { return workspace ? workspace->data() : nullptr; }
};

// Row-major [rows, columns] is column-major [columns, rows]: y^T[n, m] = w[n, k] x^T[k, m].
SparseProduct::SparseProduct(const SparseShape& shape, const void* x, void* w, void* y, Stream stream)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  const Functions& functions = library();
  s.handle.made(functions.init(&s.handle.opaque), "cusparseLtInit", functions.destroy);
  const Opaque* const handle = &s.handle.opaque;
  const cudaDataType type = operand_type(shape.operands);
  s.w.made(
      functions.structured(handle, &s.w.opaque, shape.k, shape.n, shape.k, kAlignment, type, kColumnMajor, kHalfOfThem),
      "cusparseLtStructuredDescriptorInit", functions.destroy_matrix);
  s.x.made(functions.dense(handle, &s.x.opaque, shape.k, shape.m, shape.k, kAlignment, type, kColumnMajor),
           "cusparseLtDenseDescriptorInit of x", functions.destroy_matrix);
  s.y.made(functions.dense(handle, &s.y.opaque, shape.n, shape.m, shape.n, kAlignment, CUDA_R_16F, kColumnMajor),
           "cusparseLtDenseDescriptorInit of y", functions.destroy_matrix);
  const int sums = shape.operands == SparseOperands::kInt8 ? kSumsInt32 : kSumsFp32;
  check(functions.matmul_descriptor(handle, &s.descriptor, kTransposed, kNotTransposed, &s.w.opaque, &s.x.opaque,
                                    &s.y.opaque, &s.y.opaque, sums),
        "cusparseLtMatmulDescriptorInit");
  check(functions.algorithm(handle, &s.algorithm, &s.descriptor, kDefaultAlgorithm),
        "cusparseLtMatmulAlgSelectionInit");
  s.plan.made(functions.plan(handle, &s.plan.opaque, &s.descriptor, &s.algorithm), "cusparseLtMatmulPlanInit",
              functions.destroy_plan);

  check(functions.prune(handle, &s.descriptor, w, w, kPruneRows, stream), "cusparseLtSpMMAPrune");
  std::size_t bytes = 0;
  std::size_t buffer_bytes = 0;
  check(functions.compressed_size(handle, &s.plan.opaque, &bytes, &buffer_bytes), "cusparseLtSpMMACompressedSize");
  s.compressed = std::make_unique<DeviceBuffer>(static_cast<std::int64_t>(bytes));
  const DeviceBuffer buffer(static_cast<std::int64_t>(buffer_bytes) + 1);
  check(functions.compress(handle, &s.plan.opaque, w, s.compressed->data(), buffer.data(), stream),
        "cusparseLtSpMMACompress");
  s.fit_workspace();
  cudaStream_t streams[] = {stream};
  check(functions.search(handle, &s.plan.opaque, &kOne, s.compressed->data(), x, &kZero, y, y, s.workspace_data(),
                         streams, 1),
        "cusparseLtMatmulSearch");
  s.fit_workspace();
  synchronize(stream);
}

SparseProduct::~SparseProduct() = default;

void SparseProduct::run(const void* x, void* y, Stream stream) const {
  cudaStream_t streams[] = {stream};
  check(library().matmul(&state_->handle.opaque, &state_->plan.opaque, &kOne, state_->compressed->data(), x, &kZero, y,
                         y, state_->workspace_data(), streams, 1),
        "cusparseLtMatmul");
}

}  // namespace swinscope::cuda
