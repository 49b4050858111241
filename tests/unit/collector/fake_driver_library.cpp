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
  switch (attribute) {
    case 13:
      return *value = 3, 0;  // clock of the multiprocessors (kHz)
    case 16:
      return *value = 144, 0;  // multiprocessors
    case 33:
      return *value = 0x1b, 0;  // PCI bus
    case 34:
      return *value = 2, 0;  // PCI device
    case 36:
      return *value = 500, 0;  // memory clock (kHz)
    case 37:
      return *value = 8, 0;  // memory bus (bits)
    case 38:
      return *value = 4096, 0;  // L2 (bytes)
    case 50:
      return *value = 0, 0;  // PCI domain
    case 75:
      return *value = 9, 0;  // compute capability
    case 76:
      return *value = 1, 0;
    default:
      return 1;  // no such attribute
  }
}

}  // extern "C"
