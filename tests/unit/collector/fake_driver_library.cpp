// A CUDA driver with two GPUs, of which the second one does not tell its name.
#include <cstddef>
#include <cstring>

namespace {

struct Uuid {
  unsigned char bytes[16];
};

constexpr int kInvalidDevice = 101;
constexpr int kNotInitialized = 3;
bool is_initialized = false;

}  // namespace

extern "C" {

int fake_waits = 0;
void* fake_context = nullptr;  // of every thread

int cuCtxGetCurrent(void** context) {
  *context = fake_context;
  return 0;
}
int cuCtxSynchronize() {
  ++fake_waits;
  return 0;
}
int cuInit(unsigned) {
  is_initialized = true;
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 2;
  return is_initialized ? 0 : kNotInitialized;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = 70 + ordinal;  // a handle, no ordinal
  return 0;
}
int cuDeviceGetName(char* name, int bytes, int device) {
  if (device != 70) return kInvalidDevice;
  std::strncpy(name, "Fake GPU", static_cast<std::size_t>(bytes));
  return 0;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  *bytes = static_cast<std::size_t>(device) * 1000;
  return 0;
}
int cuDeviceGetUuid_v2(Uuid* uuid, int device) {
  std::memset(uuid, device, sizeof(*uuid));
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 16 ? 144 : attribute == 75 ? 9 : attribute == 76 ? 1 : -1;
  return 0;
}

}  // extern "C"
