#include "kernels/cudnn_library.h"

#include <utility>

#include <dlfcn.h>

#include "kernels/convolution.h"
#include "kernels/device.h"

namespace swinscope::cuda {
namespace {

constexpr const char* kFile = "libcudnn.so.9";

template <typename Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr) throw Error(std::string(kFile) + " has no " + name, false);
}

CudnnFunctions open_cudnn() {
  // It opens libraries of its own, which stay until the process ends, and so does this one.
  void* const library = ::dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(std::string("cuDNN 9 cannot be opened: ") + ::dlerror() + "; install it, or add the folder of " +
                    kFile + " to LD_LIBRARY_PATH",
                false);
  }
  CudnnFunctions functions;
  find(library, "cudnnGetVersion", functions.get_version);
  find(library, "cudnnGetErrorString", functions.get_error_string);
  find(library, "cudnnCreate", functions.create);
  find(library, "cudnnDestroy", functions.destroy);
  find(library, "cudnnSetStream", functions.set_stream);
  find(library, "cudnnBackendCreateDescriptor", functions.create_descriptor);
  find(library, "cudnnBackendDestroyDescriptor", functions.destroy_descriptor);
  find(library, "cudnnBackendSetAttribute", functions.set_attribute);
  find(library, "cudnnBackendGetAttribute", functions.get_attribute);
  find(library, "cudnnBackendFinalize", functions.finalize);
  find(library, "cudnnBackendExecute", functions.execute);
  return functions;
}

}  // namespace

const CudnnFunctions& cudnn() {
  static const CudnnFunctions functions = open_cudnn();  // tried again at the next call where it throws
  return functions;
}

int cudnn_version(std::string* why) {
  try {
    return static_cast<int>(cudnn().get_version());
  } catch (const Error& error) {
    if (why != nullptr) *why = error.what();
    return 0;
  }
}

void check_cudnn(cudnnStatus_t status, const char* call) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  throw Error(std::string(call) + ": " + cudnn().get_error_string(status), false);
}

CudnnDescriptor::CudnnDescriptor(cudnnBackendDescriptorType_t type) {
  check_cudnn(cudnn().create_descriptor(type, &descriptor_), "cudnnBackendCreateDescriptor");
}

CudnnDescriptor::~CudnnDescriptor() {
  if (descriptor_ != nullptr) (void)cudnn().destroy_descriptor(descriptor_);
}

CudnnDescriptor::CudnnDescriptor(CudnnDescriptor&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, nullptr)) {}

CudnnDescriptor& CudnnDescriptor::operator=(CudnnDescriptor&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
                          const void* values) const {
  const cudnnStatus_t status = cudnn().set_attribute(descriptor_, name, type, count, values);
  if (status != CUDNN_STATUS_SUCCESS)
    check_cudnn(status, ("cudnnBackendSetAttribute(" + std::to_string(name) + ")").c_str());
}

void CudnnDescriptor::finalize() const { check_cudnn(cudnn().finalize(descriptor_), "cudnnBackendFinalize"); }

bool CudnnDescriptor::try_finalize() const { return cudnn().finalize(descriptor_) == CUDNN_STATUS_SUCCESS; }

std::int64_t CudnnDescriptor::get_integer(cudnnBackendAttributeName_t name) const {
  std::int64_t value = 0;
  std::int64_t count = 0;
  check_cudnn(cudnn().get_attribute(descriptor_, name, CUDNN_TYPE_INT64, 1, &count, &value),
              "cudnnBackendGetAttribute");
  return value;
}

void CudnnDescriptor::get_descriptor(cudnnBackendAttributeName_t name, const CudnnDescriptor& into) const {
  cudnnBackendDescriptor_t filled = into.descriptor_;
  std::int64_t count = 0;
  check_cudnn(cudnn().get_attribute(descriptor_, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &filled),
              "cudnnBackendGetAttribute");
}

std::vector<CudnnDescriptor> CudnnDescriptor::get_descriptors(cudnnBackendAttributeName_t name,
                                                              cudnnBackendDescriptorType_t type,
                                                              std::int64_t most) const {
  std::vector<CudnnDescriptor> owners;
  std::vector<cudnnBackendDescriptor_t> filled;
  for (std::int64_t i = 0; i < most; ++i) {
    owners.emplace_back(type);
    filled.push_back(owners.back().get());
  }
  std::int64_t count = 0;
  check_cudnn(cudnn().get_attribute(descriptor_, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, &count, filled.data()),
              "cudnnBackendGetAttribute");
  if (count < most) owners.resize(static_cast<std::size_t>(count));
  return owners;
}

std::vector<cudnnBackendNumericalNote_t> CudnnDescriptor::numerical_notes() const {
  std::vector<cudnnBackendNumericalNote_t> notes(CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  std::int64_t count = 0;
  check_cudnn(cudnn().get_attribute(descriptor_, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                    CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count, notes.data()),
              "cudnnBackendGetAttribute");
  notes.resize(static_cast<std::size_t>(count));
  return notes;
}

}  // namespace swinscope::cuda
