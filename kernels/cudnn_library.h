// cuDNN's graph API, opened at run time: a program with CUDA parts runs where cuDNN is not installed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <cudnn_graph.h>

namespace swinscope::cuda {

// The functions that we use, of the one cuDNN of this process.
struct CudnnFunctions {
  decltype(&::cudnnGetVersion) get_version = nullptr;
  decltype(&::cudnnGetErrorString) get_error_string = nullptr;
  decltype(&::cudnnCreate) create = nullptr;
  decltype(&::cudnnDestroy) destroy = nullptr;
  decltype(&::cudnnSetStream) set_stream = nullptr;
  decltype(&::cudnnBackendCreateDescriptor) create_descriptor = nullptr;
  decltype(&::cudnnBackendDestroyDescriptor) destroy_descriptor = nullptr;
  decltype(&::cudnnBackendSetAttribute) set_attribute = nullptr;
  decltype(&::cudnnBackendGetAttribute) get_attribute = nullptr;
  decltype(&::cudnnBackendFinalize) finalize = nullptr;
  decltype(&::cudnnBackendExecute) execute = nullptr;
};

// Throws cuda::Error where there is no cuDNN 9, saying what was looked for and what to do.
const CudnnFunctions& cudnn();

// Throws cuda::Error with the call and cuDNN's words.
void check_cudnn(cudnnStatus_t status, const char* call);

class CudnnHandle {
 public:
  CudnnHandle() { check_cudnn(cudnn().create(&handle_), "cudnnCreate"); }
  ~CudnnHandle() { (void)cudnn().destroy(handle_); }
  CudnnHandle(const CudnnHandle&) = delete;
  CudnnHandle& operator=(const CudnnHandle&) = delete;
  CudnnHandle(CudnnHandle&&) = delete;
  CudnnHandle& operator=(CudnnHandle&&) = delete;
  cudnnHandle_t get() const { return handle_; }

 private:
  cudnnHandle_t handle_ = nullptr;
};

// A descriptor of one owner. Attributes are set, then it is finalized; only then may others refer to it.
class CudnnDescriptor {
 public:
  CudnnDescriptor() = default;
  explicit CudnnDescriptor(cudnnBackendDescriptorType_t type);
  ~CudnnDescriptor();
  CudnnDescriptor(CudnnDescriptor&& other) noexcept;
  CudnnDescriptor& operator=(CudnnDescriptor&& other) noexcept;
  CudnnDescriptor(const CudnnDescriptor&) = delete;
  CudnnDescriptor& operator=(const CudnnDescriptor&) = delete;

  cudnnBackendDescriptor_t get() const { return descriptor_; }

  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
           const void* values) const;
  void set(cudnnBackendAttributeName_t name, std::int64_t value) const { set(name, CUDNN_TYPE_INT64, 1, &value); }
  void set(cudnnBackendAttributeName_t name, const std::vector<std::int64_t>& values) const {
    set(name, CUDNN_TYPE_INT64, static_cast<std::int64_t>(values.size()), values.data());
  }
  void set(cudnnBackendAttributeName_t name, float value) const { set(name, CUDNN_TYPE_FLOAT, 1, &value); }
  void set(cudnnBackendAttributeName_t name, cudnnDataType_t value) const {
    set(name, CUDNN_TYPE_DATA_TYPE, 1, &value);
  }
  void set(cudnnBackendAttributeName_t name, const CudnnDescriptor& value) const {
    set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value.descriptor_);
  }
  void finalize() const;
  bool try_finalize() const;  // false where cuDNN does not support what it describes

  std::int64_t get_integer(cudnnBackendAttributeName_t name) const;
  // Into a descriptor that was made for it.
  void get_descriptor(cudnnBackendAttributeName_t name, const CudnnDescriptor& into) const;
  // Up to `most` of them.
  std::vector<CudnnDescriptor> get_descriptors(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type,
                                               std::int64_t most) const;
  std::vector<cudnnBackendNumericalNote_t> numerical_notes() const;  // of an engine

 private:
  cudnnBackendDescriptor_t descriptor_ = nullptr;
};

}  // namespace swinscope::cuda
