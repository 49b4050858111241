#include "collector/sampling/nvml.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>

namespace swinscope {
namespace {

using Device = void*;
using Sample = void*;

constexpr int kSmClock = 1;
constexpr int kMemoryClock = 2;
constexpr unsigned kGpmVersion = 1;

struct Utilization {
  unsigned gpu;
  unsigned memory;
};
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
struct GpmMetric {
  unsigned id;
  int result;
  double value;
  const char* names[3];
};
// The array is as long as the driver at hand wants it, and only `count` of it is used.
struct GpmRequest {
  unsigned version;
  unsigned count;
  Sample older;
  Sample newer;
  GpmMetric metrics[512];
};
struct GpmSupport {
  unsigned version;
  unsigned is_supported;
};

enum Id : int {
  kIdSmClock = 1,
  kIdMemoryClock,
  kIdPower,
  kIdTemperature,
  kIdUtilization,
  kIdMemoryUsed,
  kIdThrottle,
  kIdSmActive = 11,
  kIdTensorActive,
  kIdDramActive,
  kIdSmOccupancy,
};

// GPM's own numbers, in the order in which they are asked for; each is a percentage.
struct GpmId {
  unsigned gpm;
  int id;
};
constexpr std::array<GpmId, 4> kGpmIds = {
    {{2, kIdSmActive}, {5, kIdTensorActive}, {10, kIdDramActive}, {3, kIdSmOccupancy}}};

constexpr unsigned kMostNvLinks = 18;
constexpr int kP2pByNvLink = 2;
constexpr unsigned kRemoteIsGpu = 0;

struct PciInfo {
  char legacy_bus_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};

// Where the ways of two GPUs meet on PCIe; empty for a level that is not known.
std::string pcie_kind(unsigned level) {
  switch (level) {
    case 10:
      return "PIX";
    case 20:
      return "PXB";
    case 30:
      return "PHB";
    case 40:
      return "NODE";
    case 50:
      return "SYS";
    default:
      return "";
  }
}

struct Functions {
  int (*nvmlInit_v2)() = nullptr;
  int (*nvmlDeviceGetCount_v2)(unsigned*) = nullptr;
  int (*nvmlDeviceGetHandleByIndex_v2)(unsigned, Device*) = nullptr;
  int (*nvmlDeviceGetName)(Device, char*, unsigned) = nullptr;
  int (*nvmlDeviceGetUUID)(Device, char*, unsigned) = nullptr;
  int (*nvmlDeviceGetMemoryInfo)(Device, Memory*) = nullptr;
  int (*nvmlDeviceGetClockInfo)(Device, int, unsigned*) = nullptr;
  int (*nvmlDeviceGetPowerUsage)(Device, unsigned*) = nullptr;
  int (*nvmlDeviceGetTemperature)(Device, int, unsigned*) = nullptr;
  int (*nvmlDeviceGetUtilizationRates)(Device, Utilization*) = nullptr;
  int (*nvmlDeviceGetCurrentClocksThrottleReasons)(Device, unsigned long long*) = nullptr;
  const char* (*nvmlErrorString)(int) = nullptr;
  // Null in old drivers, or of no use to a virtual machine.
  int (*nvmlDeviceGetNvLinkState)(Device, unsigned, unsigned*) = nullptr;
  int (*nvmlDeviceGetNvLinkRemoteDeviceType)(Device, unsigned, unsigned*) = nullptr;
  int (*nvmlDeviceGetNvLinkRemotePciInfo_v2)(Device, unsigned, PciInfo*) = nullptr;
  int (*nvmlDeviceGetPciInfo_v3)(Device, PciInfo*) = nullptr;
  int (*nvmlDeviceGetP2PStatus)(Device, Device, int, unsigned*) = nullptr;
  int (*nvmlDeviceGetTopologyCommonAncestor)(Device, Device, unsigned*) = nullptr;
  int (*nvmlDeviceGetMaxPcieLinkGeneration)(Device, unsigned*) = nullptr;
  int (*nvmlDeviceGetMaxPcieLinkWidth)(Device, unsigned*) = nullptr;
  int (*nvmlGpmQueryDeviceSupport)(Device, GpmSupport*) = nullptr;
  int (*nvmlGpmSampleAlloc)(Sample*) = nullptr;
  int (*nvmlGpmSampleGet)(Device, Sample) = nullptr;
  int (*nvmlGpmMetricsGet)(GpmRequest*) = nullptr;
};

class Library : public Nvml {
 public:
  // The reason why it cannot be used, or nothing.
  std::string load(void* library) {
    const char* missing = nullptr;
    const auto find = [&](auto& function, const char* name, bool is_required = true) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      if (function == nullptr && is_required) missing = name;
    };
    find(f_.nvmlInit_v2, "nvmlInit_v2");
    find(f_.nvmlDeviceGetCount_v2, "nvmlDeviceGetCount_v2");
    find(f_.nvmlDeviceGetHandleByIndex_v2, "nvmlDeviceGetHandleByIndex_v2");
    find(f_.nvmlDeviceGetName, "nvmlDeviceGetName");
    find(f_.nvmlDeviceGetUUID, "nvmlDeviceGetUUID");
    find(f_.nvmlDeviceGetMemoryInfo, "nvmlDeviceGetMemoryInfo");
    find(f_.nvmlDeviceGetClockInfo, "nvmlDeviceGetClockInfo");
    find(f_.nvmlDeviceGetPowerUsage, "nvmlDeviceGetPowerUsage");
    find(f_.nvmlDeviceGetTemperature, "nvmlDeviceGetTemperature");
    find(f_.nvmlDeviceGetUtilizationRates, "nvmlDeviceGetUtilizationRates");
    find(f_.nvmlDeviceGetCurrentClocksThrottleReasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    find(f_.nvmlErrorString, "nvmlErrorString");
    find(f_.nvmlDeviceGetNvLinkState, "nvmlDeviceGetNvLinkState", false);
    find(f_.nvmlDeviceGetNvLinkRemoteDeviceType, "nvmlDeviceGetNvLinkRemoteDeviceType", false);
    find(f_.nvmlDeviceGetNvLinkRemotePciInfo_v2, "nvmlDeviceGetNvLinkRemotePciInfo_v2", false);
    find(f_.nvmlDeviceGetPciInfo_v3, "nvmlDeviceGetPciInfo_v3", false);
    find(f_.nvmlDeviceGetP2PStatus, "nvmlDeviceGetP2PStatus", false);
    find(f_.nvmlDeviceGetTopologyCommonAncestor, "nvmlDeviceGetTopologyCommonAncestor", false);
    find(f_.nvmlDeviceGetMaxPcieLinkGeneration, "nvmlDeviceGetMaxPcieLinkGeneration", false);
    find(f_.nvmlDeviceGetMaxPcieLinkWidth, "nvmlDeviceGetMaxPcieLinkWidth", false);
    find(f_.nvmlGpmQueryDeviceSupport, "nvmlGpmQueryDeviceSupport", false);
    find(f_.nvmlGpmSampleAlloc, "nvmlGpmSampleAlloc", false);
    find(f_.nvmlGpmSampleGet, "nvmlGpmSampleGet", false);
    find(f_.nvmlGpmMetricsGet, "nvmlGpmMetricsGet", false);
    if (missing != nullptr) return fmt::format("NVML has no {}: the driver is too old", missing);
    unsigned count = 0;
    int result = f_.nvmlInit_v2();
    if (result == 0) result = f_.nvmlDeviceGetCount_v2(&count);
    if (result != 0) return fmt::format("NVML: {}", f_.nvmlErrorString(result));
    for (unsigned i = 0; i < count; ++i) {
      Gpu gpu;
      if (f_.nvmlDeviceGetHandleByIndex_v2(i, &gpu.device) != 0) continue;
      prepare_gpm(gpu);
      gpus_.push_back(gpu);
    }
    return gpus_.empty() ? "NVML sees no GPU" : "";
  }

  std::vector<GpuIdentity> gpus() override {
    std::vector<GpuIdentity> identities;
    for (const Gpu& gpu : gpus_) {
      std::array<char, 97> name{};
      std::array<char, 97> uuid{};
      Memory memory{};
      f_.nvmlDeviceGetName(gpu.device, name.data(), name.size() - 1);
      f_.nvmlDeviceGetUUID(gpu.device, uuid.data(), uuid.size() - 1);
      f_.nvmlDeviceGetMemoryInfo(gpu.device, &memory);
      GpuIdentity identity{name.data(), uuid.data(), static_cast<std::int64_t>(memory.total), 0, {}};
      for (unsigned link = 0; link < kMostNvLinks; ++link)
        identity.nvlinks += is_up(gpu.device, link) ? 1 : 0;
      unsigned generation = 0;
      unsigned width = 0;
      if (f_.nvmlDeviceGetMaxPcieLinkGeneration != nullptr && f_.nvmlDeviceGetMaxPcieLinkWidth != nullptr &&
          f_.nvmlDeviceGetMaxPcieLinkGeneration(gpu.device, &generation) == 0 &&
          f_.nvmlDeviceGetMaxPcieLinkWidth(gpu.device, &width) == 0)
        identity.pcie = fmt::format("gen{} x{}", generation, width);
      identities.push_back(std::move(identity));
    }
    return identities;
  }

  std::vector<GpuLink> links() override {
    std::vector<GpuLink> links;
    for (std::size_t second = 0; second < gpus_.size(); ++second) {
      for (std::size_t first = 0; first < second; ++first) {
        std::string kind = link_kind(gpus_[first].device, gpus_[second].device);
        if (!kind.empty()) links.push_back({first, second, std::move(kind)});
      }
    }
    return links;
  }

  std::vector<GpuReading> read(std::size_t index) override {
    Gpu& gpu = gpus_[index];
    std::vector<GpuReading> readings;
    const auto add = [&](int result, int id, auto value) {
      if (result == 0) readings.push_back({id, static_cast<std::int64_t>(value)});
    };
    unsigned number = 0;
    int result = f_.nvmlDeviceGetClockInfo(gpu.device, kSmClock, &number);
    add(result, kIdSmClock, number);
    result = f_.nvmlDeviceGetClockInfo(gpu.device, kMemoryClock, &number);
    add(result, kIdMemoryClock, number);
    result = f_.nvmlDeviceGetPowerUsage(gpu.device, &number);
    add(result, kIdPower, number);
    result = f_.nvmlDeviceGetTemperature(gpu.device, 0, &number);
    add(result, kIdTemperature, number);
    Utilization utilization{};
    result = f_.nvmlDeviceGetUtilizationRates(gpu.device, &utilization);
    add(result, kIdUtilization, utilization.gpu);
    Memory memory{};
    result = f_.nvmlDeviceGetMemoryInfo(gpu.device, &memory);
    add(result, kIdMemoryUsed, memory.used);
    unsigned long long reasons = 0;
    result = f_.nvmlDeviceGetCurrentClocksThrottleReasons(gpu.device, &reasons);
    add(result, kIdThrottle, reasons);
    read_gpm(gpu, readings);
    return readings;
  }

 private:
  struct Gpu {
    Device device = nullptr;
    Sample older = nullptr;
    Sample newer = nullptr;
    bool has_gpm = false;
    bool has_older = false;
  };

  bool is_up(Device device, unsigned link) const {
    unsigned active = 0;
    return f_.nvmlDeviceGetNvLinkState != nullptr && f_.nvmlDeviceGetNvLinkState(device, link, &active) == 0 &&
           active == 1;
  }

  // Links to a switch lead to all GPUs, others to the one at their end.
  int nvlinks_between(Device from, Device to) const {
    PciInfo wanted{};
    const bool knows_place = f_.nvmlDeviceGetPciInfo_v3 != nullptr && f_.nvmlDeviceGetPciInfo_v3(to, &wanted) == 0 &&
                             f_.nvmlDeviceGetNvLinkRemotePciInfo_v2 != nullptr;
    int links = 0;
    for (unsigned link = 0; link < kMostNvLinks; ++link) {
      if (!is_up(from, link)) continue;
      unsigned type = kRemoteIsGpu + 1;
      if (f_.nvmlDeviceGetNvLinkRemoteDeviceType != nullptr) f_.nvmlDeviceGetNvLinkRemoteDeviceType(from, link, &type);
      PciInfo remote{};
      const bool elsewhere = type == kRemoteIsGpu && knows_place &&
                             f_.nvmlDeviceGetNvLinkRemotePciInfo_v2(from, link, &remote) == 0 &&
                             std::strncmp(remote.bus_id, wanted.bus_id, sizeof(wanted.bus_id)) != 0;
      links += elsewhere ? 0 : 1;
    }
    return links;
  }

  std::string link_kind(Device first, Device second) const {
    unsigned status = 1;
    if (f_.nvmlDeviceGetP2PStatus != nullptr && f_.nvmlDeviceGetP2PStatus(first, second, kP2pByNvLink, &status) == 0 &&
        status == 0) {
      if (const int links = nvlinks_between(first, second); links > 0) return fmt::format("NV{}", links);
    }
    unsigned level = 0;
    if (f_.nvmlDeviceGetTopologyCommonAncestor == nullptr ||
        f_.nvmlDeviceGetTopologyCommonAncestor(first, second, &level) != 0)
      return {};
    return pcie_kind(level);
  }

  void prepare_gpm(Gpu& gpu) {
    if (f_.nvmlGpmQueryDeviceSupport == nullptr || f_.nvmlGpmSampleAlloc == nullptr || f_.nvmlGpmSampleGet == nullptr ||
        f_.nvmlGpmMetricsGet == nullptr)
      return;
    GpmSupport support{kGpmVersion, 0};
    gpu.has_gpm = f_.nvmlGpmQueryDeviceSupport(gpu.device, &support) == 0 && support.is_supported != 0 &&
                  f_.nvmlGpmSampleAlloc(&gpu.older) == 0 && f_.nvmlGpmSampleAlloc(&gpu.newer) == 0;
  }

  // The counters move on about ten times a second. Between two samples without a move GPM answers 0 for some metrics,
  // and 0 / 0 for others: then the older sample is kept, and the next reading covers the time since.
  void read_gpm(Gpu& gpu, std::vector<GpuReading>& readings) {
    if (!gpu.has_gpm || f_.nvmlGpmSampleGet(gpu.device, gpu.newer) != 0) return;
    if (!gpu.has_older) {
      gpu.has_older = true;
      return std::swap(gpu.older, gpu.newer);
    }
    request_ = {};
    request_.version = kGpmVersion;
    request_.count = kGpmIds.size();
    request_.older = gpu.older;
    request_.newer = gpu.newer;
    for (std::size_t i = 0; i < kGpmIds.size(); ++i)
      request_.metrics[i].id = kGpmIds[i].gpm;
    if (f_.nvmlGpmMetricsGet(&request_) != 0) return std::swap(gpu.older, gpu.newer);
    const GpmMetric* const end = request_.metrics + kGpmIds.size();
    const auto has_no_value = [](const GpmMetric& metric) {
      return metric.result == 0 && !std::isfinite(metric.value);
    };
    if (std::any_of(static_cast<const GpmMetric*>(request_.metrics), end, has_no_value)) return;
    constexpr double kHundredths = 100;
    for (std::size_t i = 0; i < kGpmIds.size(); ++i) {
      if (request_.metrics[i].result == 0)
        readings.push_back({kGpmIds[i].id, std::llround(request_.metrics[i].value * kHundredths)});
    }
    std::swap(gpu.older, gpu.newer);
  }

  Functions f_;
  std::vector<Gpu> gpus_;
  GpmRequest request_{};
};

}  // namespace

const std::vector<GpuMetric>& gpu_metrics() {
  constexpr int kNvml = 1;
  constexpr int kGpm = 3;
  static const std::vector<GpuMetric> kMetrics = {{kIdSmClock, kNvml, "SM clock [MHz]"},
                                                  {kIdMemoryClock, kNvml, "Memory clock [MHz]"},
                                                  {kIdPower, kNvml, "Power [mW]"},
                                                  {kIdTemperature, kNvml, "Temperature [C]"},
                                                  {kIdUtilization, kNvml, "GPU utilization [%]"},
                                                  {kIdMemoryUsed, kNvml, "Memory used [bytes]"},
                                                  {kIdThrottle, kNvml, "Throttle reasons [NVML bits]"},
                                                  {kIdSmActive, kGpm, "SM active [0.01 %]"},
                                                  {kIdTensorActive, kGpm, "Tensor active [0.01 %]"},
                                                  {kIdDramActive, kGpm, "DRAM active [0.01 %]"},
                                                  {kIdSmOccupancy, kGpm, "SM occupancy [0.01 %]"}};
  return kMetrics;
}

std::vector<NamedValue> describe_connections(Nvml& nvml) {
  std::vector<NamedValue> facts;
  const std::vector<GpuIdentity> gpus = nvml.gpus();
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (gpus[i].nvlinks > 0) facts.push_back({fmt::format("gpu.{}.nvlinks", i), std::to_string(gpus[i].nvlinks)});
    if (!gpus[i].pcie.empty()) facts.push_back({fmt::format("gpu.{}.pcie", i), gpus[i].pcie});
  }
  for (const GpuLink& link : nvml.links())
    facts.push_back({fmt::format("gpu.{}-{}.link", link.first, link.second), link.kind});
  return facts;
}

std::unique_ptr<Nvml> open_nvml(std::string& problem, const char* name) {
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    problem = fmt::format("{} was not found: there is no NVIDIA driver here", name);
    return nullptr;
  }
  auto nvml = std::make_unique<Library>();
  problem = nvml->load(library);
  if (!problem.empty()) return nullptr;
  return nvml;
}

}  // namespace swinscope
