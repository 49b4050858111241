// NVML with one GPU whose GPM counters move on at every second sample only, as the real ones do when they are asked
// often.
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

int gpu = 0;
int samples_taken = 0;
Sample samples[2];
int samples_made = 0;

constexpr unsigned kDramActive = 10;
constexpr unsigned kUnsupported = 5;  // of this GPU

}  // namespace

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

FAKE_EXPORT int nvmlInit_v2() { return 0; }
FAKE_EXPORT int nvmlDeviceGetCount_v2(unsigned* count) { return *count = 1, 0; }
FAKE_EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned, void** device) { return *device = &gpu, 0; }
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
