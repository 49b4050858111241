// The driver is a library with two GPUs, loaded by this program as a CUDA program loads the real one.
#include "collector/cupti/cuda_driver.h"

#include <stdexcept>
#include <vector>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace swinscope {
namespace {

using ::testing::IsEmpty;

// Loaded and initialized once: what is loaded stays.
void* initialized_driver() {
  static void* const library = [] {
    void* const loaded = dlopen(SWINSCOPE_FAKE_DRIVER, RTLD_NOW);
    if (loaded == nullptr) throw std::runtime_error(dlerror());
    reinterpret_cast<int (*)(unsigned)>(dlsym(loaded, "cuInit"))(0);
    return loaded;
  }();
  return library;
}

TEST(CudaDriver, IsNeitherLoadedNorInitialized) {
  EXPECT_THAT(driver_devices(), IsEmpty()) << "no driver in this process";
  wait_for_context();
  void* const library = dlopen(SWINSCOPE_FAKE_DRIVER, RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  EXPECT_THAT(driver_devices(), IsEmpty()) << "not initialized";
}

// Its memory moves 1 byte at each of the two edges of 500 kHz: 1 MB/s.
TEST(CudaDriver, TellsOfItsGpus) {
  initialized_driver();
  const std::vector<GpuInfo> gpus = driver_devices();
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0], (GpuInfo{0, "Fake GPU", "GPU-46464646-4646-4646-4646-464646464646", 70'000, 144, 9, 1, "",
                              "0000:1b:02.0", 4096, 1'000'000, 3'000}));
  EXPECT_EQ(gpus[1], (GpuInfo{1, "", "GPU-47474747-4747-4747-4747-474747474747", 71'000, 144, 9, 1, "", "0000:1b:02.0",
                              4096, 1'000'000, 3'000}));
}

TEST(CudaDriver, IsWaitedForWhereTheThreadHasAContext) {
  void* const library = initialized_driver();
  const int& waits = *static_cast<int*>(dlsym(library, "fake_waits"));
  void*& context = *static_cast<void**>(dlsym(library, "fake_context"));
  wait_for_context();
  EXPECT_EQ(waits, 0);
  int some = 0;
  context = &some;
  wait_for_context();
  EXPECT_EQ(waits, 1);
  context = nullptr;
}

}  // namespace
}  // namespace swinscope
