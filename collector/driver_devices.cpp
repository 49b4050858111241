#include "collector/driver_devices.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

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

struct Driver {
  Result (*cuDeviceGetCount)(int*) = nullptr;
  Result (*cuDeviceGet)(Device*, int) = nullptr;
  Result (*cuDeviceGetName)(char*, int, Device) = nullptr;
  Result (*cuDeviceTotalMem_v2)(std::size_t*, Device) = nullptr;
  Result (*cuDeviceGetUuid_v2)(Uuid*, Device) = nullptr;
  Result (*cuDeviceGetAttribute)(int*, int, Device) = nullptr;
};

// False when a function is missing.
bool load(Driver& driver, void* library) {
  bool is_complete = true;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    is_complete = is_complete && function != nullptr;
  };
  find(driver.cuDeviceGetCount, "cuDeviceGetCount");
  find(driver.cuDeviceGet, "cuDeviceGet");
  find(driver.cuDeviceGetName, "cuDeviceGetName");
  find(driver.cuDeviceTotalMem_v2, "cuDeviceTotalMem_v2");
  find(driver.cuDeviceGetUuid_v2, "cuDeviceGetUuid_v2");
  find(driver.cuDeviceGetAttribute, "cuDeviceGetAttribute");
  return is_complete;
}

// What the driver does not tell stays empty.
GpuInfo describe(const Driver& driver, int ordinal, Device device) {
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
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return {};
  std::vector<GpuInfo> gpus;
  Driver driver;
  int count = 0;
  if (load(driver, library) && driver.cuDeviceGetCount(&count) == 0) {
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      Device device = 0;
      if (driver.cuDeviceGet(&device, ordinal) == 0) gpus.push_back(describe(driver, ordinal, device));
    }
  }
  dlclose(library);
  return gpus;
}

}  // namespace swinscope
