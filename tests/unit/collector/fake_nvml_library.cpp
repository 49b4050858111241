// NVML with three GPUs. GPM counters move on at every second sample only, as the real ones do when they are asked
// often. GPUs 0 and 1 are connected by four NVLinks, 1 and 2 by six that go to a switch, 0 and 2 over a PCIe host
// bridge.
#include <cstddef>
#include <cstring>
#include <limits>

namespace {

struct Sample {
  int moves;
};
struct Metric {
  unsigned id;
  int result;
  double value;
  const char* names[3];
};
struct Request {
  unsigned version;
  unsigned count;
  const Sample* older;
  const Sample* newer;
  Metric metrics[512];
};
struct Memory {
  unsigned long long total, free, used;
};
struct Support {
  unsigned version, is_supported;
};
struct Utilization {
  unsigned gpu, memory;
};

struct PciInfo {
  char legacy_bus_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};

int gpus[3] = {0, 1, 2};
constexpr unsigned kDirectLinks = 4;
constexpr unsigned kSwitchLinks = 6;
constexpr int kByNvLink = 2;

int number_of(const void* device) { return *static_cast<const int*>(device); }
int tell_bus(int number, PciInfo* info) {
  *info = {};
  info->bus_id[0] = static_cast<char>('A' + number);
  return 0;
}

int samples_taken = 0;
Sample samples[2];
int samples_made = 0;

constexpr unsigned kDramActive = 10;
constexpr unsigned kUnsupported = 5;  // of this GPU

}  // namespace

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

FAKE_EXPORT int nvmlInit_v2() { return 0; }
FAKE_EXPORT int nvmlDeviceGetCount_v2(unsigned* count) { return *count = 3, 0; }
FAKE_EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned i, void** device) { return *device = &gpus[i], 0; }
FAKE_EXPORT int nvmlDeviceGetNvLinkState(void* device, unsigned link, unsigned* active) {
  const unsigned links = number_of(device) == 0   ? kDirectLinks
                         : number_of(device) == 1 ? kDirectLinks + kSwitchLinks
                                                  : 0;
  return *active = link < links ? 1 : 0, 0;
}
FAKE_EXPORT int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned link, unsigned* type) {
  return *type = link < kDirectLinks ? 0 : 2, 0;
}
FAKE_EXPORT int nvmlDeviceGetNvLinkRemotePciInfo_v2(void* device, unsigned, PciInfo* info) {
  return tell_bus(1 - number_of(device), info);
}
FAKE_EXPORT int nvmlDeviceGetPciInfo_v3(void* device, PciInfo* info) { return tell_bus(number_of(device), info); }
FAKE_EXPORT int nvmlDeviceGetP2PStatus(void* a, void* b, int how, unsigned* status) {
  return *status = how == kByNvLink && number_of(a) + number_of(b) != 2 ? 0 : 1, 0;
}
FAKE_EXPORT int nvmlDeviceGetTopologyCommonAncestor(void*, void*, unsigned* level) { return *level = 30, 0; }
FAKE_EXPORT int nvmlDeviceGetMaxPcieLinkGeneration(void*, unsigned* generation) { return *generation = 5, 0; }
FAKE_EXPORT int nvmlDeviceGetMaxPcieLinkWidth(void*, unsigned* width) { return *width = 16, 0; }
FAKE_EXPORT int nvmlDeviceGetName(void*, char* text, unsigned size) { return std::strncpy(text, "fake GPU", size), 0; }
FAKE_EXPORT int nvmlDeviceGetUUID(void*, char* text, unsigned size) { return std::strncpy(text, "GPU-1", size), 0; }
FAKE_EXPORT int nvmlDeviceGetMemoryInfo(void*, Memory* memory) { return *memory = {100, 60, 40}, 0; }
FAKE_EXPORT int nvmlDeviceGetClockInfo(void*, int type, unsigned* mhz) { return *mhz = type == 1 ? 1980 : 3201, 0; }
FAKE_EXPORT int nvmlDeviceGetPowerUsage(void*, unsigned*) { return 3; }  // not told
FAKE_EXPORT int nvmlDeviceGetTemperature(void*, int, unsigned* celsius) { return *celsius = 50, 0; }
FAKE_EXPORT int nvmlDeviceGetUtilizationRates(void*, Utilization* rates) { return *rates = {99, 12}, 0; }
FAKE_EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  return *reasons = 4, 0;
}
FAKE_EXPORT const char* nvmlErrorString(int) { return "fake"; }
FAKE_EXPORT int nvmlGpmQueryDeviceSupport(void*, Support* support) { return support->is_supported = 1, 0; }
FAKE_EXPORT int nvmlGpmSampleAlloc(Sample** sample) { return *sample = &samples[samples_made++ % 2], 0; }
FAKE_EXPORT int nvmlGpmSampleGet(void*, Sample* sample) { return sample->moves = samples_taken++ / 2, 0; }
FAKE_EXPORT int nvmlGpmMetricsGet(Request* request) {
  const int moved = request->newer->moves - request->older->moves;
  for (unsigned i = 0; i < request->count; ++i) {
    Metric& metric = request->metrics[i];
    metric.result = metric.id == kUnsupported ? 3 : 0;
    metric.value = moved > 0 ? 90.0 + moved : 0;
    if (metric.id == kDramActive && moved == 0) metric.value = std::numeric_limits<double>::quiet_NaN();
  }
  return 0;
}
