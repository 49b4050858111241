#include "collector/cupti/cuda_driver.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include <dlfcn.h>
#include <fmt/format.h>

#include "collector/cupti/cupti_facts.h"
#include "store/utf8.h"

namespace swinscope {
namespace {

using Result = int;  // CUresult; 0 is success
using Device = int;  // CUdevice

// CUdevice_attribute
constexpr int kClockKhz = 13;
constexpr int kMultiprocessors = 16;
constexpr int kBus = 33;
constexpr int kSlot = 34;
constexpr int kMemoryClockKhz = 36;
constexpr int kMemoryBusBits = 37;
constexpr int kL2Bytes = 38;
constexpr int kDomain = 50;
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

std::string bus_location(const DeviceFunctions& driver, Device device) {
  std::array<int, 3> place{};
  constexpr std::array<int, 3> kWhich = {kDomain, kBus, kSlot};
  for (std::size_t i = 0; i < place.size(); ++i)
    if (driver.cuDeviceGetAttribute(&place[i], kWhich[i], device) != 0) return {};
  return fmt::format("{:04x}:{:02x}:{:02x}.0", place[0], place[1], place[2]);
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
  gpu.chip = chip_of_capability(gpu.compute_major, gpu.compute_minor);
  gpu.bus_location = bus_location(driver, device);
  gpu.l2_bytes = attribute(kL2Bytes);
  gpu.clock_hz = std::int64_t{attribute(kClockKhz)} * 1000;
  // Double data rate: two transfers a clock.
  gpu.memory_bytes_per_second = std::int64_t{2} * attribute(kMemoryClockKhz) * 1000 * (attribute(kMemoryBusBits) / 8);
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

std::string driver_bus_location(int ordinal) {
  const Library library;
  DeviceFunctions driver;
  Device device = 0;
  if (!load(driver, library) || driver.cuDeviceGet(&device, ordinal) != 0) return {};
  return bus_location(driver, device);
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
