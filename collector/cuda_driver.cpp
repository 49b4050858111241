#include "collector/cuda_driver.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include <dlfcn.h>

#include "collector/cupti_facts.h"
#include "store/utf8.h"

namespace swinscope {
namespace {

using Result = int;  // CUresult; 0 is success
using Device = int;  // CUdevice

// CUdevice_attribute
constexpr int kMultiprocessors = 16;
constexpr int kComputeMajor = 75;
constexpr int kComputeMinor = 76;

struct Uuid {
  std::uint8_t bytes[16];
};

struct DeviceFunctions {
  Result (*cuDeviceGetCount)(int*) = nullptr;
  Result (*cuDeviceGet)(Device*, int) = nullptr;
  Result (*cuDeviceGetName)(char*, int, Device) = nullptr;
  Result (*cuDeviceTotalMem_v2)(std::size_t*, Device) = nullptr;
  Result (*cuDeviceGetUuid_v2)(Uuid*, Device) = nullptr;
  Result (*cuDeviceGetAttribute)(int*, int, Device) = nullptr;
};

// Among the libraries of the process.
class Library {
 public:
  Library() : handle_(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD)) {}
  ~Library() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  Library(Library&&) = delete;
  Library& operator=(Library&&) = delete;

  // False when it is missing.
  template <typename Function>
  bool find(Function& function, const char* name) const {
    function = handle_ == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(handle_, name));
    return function != nullptr;
  }

 private:
  void* handle_;
};

bool load(DeviceFunctions& driver, const Library& library) {
  return library.find(driver.cuDeviceGetCount, "cuDeviceGetCount") && library.find(driver.cuDeviceGet, "cuDeviceGet") &&
         library.find(driver.cuDeviceGetName, "cuDeviceGetName") &&
         library.find(driver.cuDeviceTotalMem_v2, "cuDeviceTotalMem_v2") &&
         library.find(driver.cuDeviceGetUuid_v2, "cuDeviceGetUuid_v2") &&
         library.find(driver.cuDeviceGetAttribute, "cuDeviceGetAttribute");
}

// What the driver does not tell stays empty.
GpuInfo describe(const DeviceFunctions& driver, int ordinal, Device device) {
  GpuInfo gpu;
  gpu.device = ordinal;
  std::array<char, 256> name{};
  if (driver.cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device) == 0)
    gpu.name = replace_invalid_utf8(name.data());
  Uuid uuid{};
  if (driver.cuDeviceGetUuid_v2(&uuid, device) == 0) gpu.uuid = gpu_uuid_text(uuid.bytes);
  std::size_t bytes = 0;
  if (driver.cuDeviceTotalMem_v2(&bytes, device) == 0) gpu.memory_bytes = static_cast<std::int64_t>(bytes);
  const auto attribute = [&](int which) {
    int value = 0;
    return driver.cuDeviceGetAttribute(&value, which, device) == 0 ? value : 0;
  };
  gpu.sm_count = attribute(kMultiprocessors);
  gpu.compute_major = attribute(kComputeMajor);
  gpu.compute_minor = attribute(kComputeMinor);
  return gpu;
}

}  // namespace

std::vector<GpuInfo> driver_devices() {
  const Library library;
  DeviceFunctions driver;
  int count = 0;
  if (!load(driver, library) || driver.cuDeviceGetCount(&count) != 0) return {};
  std::vector<GpuInfo> gpus;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    Device device = 0;
    if (driver.cuDeviceGet(&device, ordinal) == 0) gpus.push_back(describe(driver, ordinal, device));
  }
  return gpus;
}

void wait_for_context() {
  const Library library;
  Result (*get_current)(void**) = nullptr;
  Result (*synchronize)() = nullptr;
  if (!library.find(get_current, "cuCtxGetCurrent") || !library.find(synchronize, "cuCtxSynchronize")) return;
  void* context = nullptr;
  if (get_current(&context) == 0 && context != nullptr) (void)synchronize();
}

}  // namespace swinscope
