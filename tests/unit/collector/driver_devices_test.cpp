// The driver is a library with two GPUs, loaded by this program as a CUDA program loads the real one.
#include "collector/driver_devices.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace swinscope {
namespace {

using ::testing::IsEmpty;

TEST(DriverDevices, AreToldOnceAProgramHasInitializedIt) {
  EXPECT_THAT(driver_devices(), IsEmpty()) << "no driver in this process";
  void* const library = dlopen(SWINSCOPE_FAKE_DRIVER, RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  EXPECT_THAT(driver_devices(), IsEmpty()) << "not initialized";
  const auto initialize = reinterpret_cast<int (*)(unsigned)>(dlsym(library, "cuInit"));
  ASSERT_NE(initialize, nullptr);
  initialize(0);
  const std::vector<GpuInfo> gpus = driver_devices();
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0], (GpuInfo{0, "Fake GPU", "GPU-46464646-4646-4646-4646-464646464646", 70'000, 144, 9, 1}));
  EXPECT_EQ(gpus[1], (GpuInfo{1, "", "GPU-47474747-4747-4747-4747-474747474747", 71'000, 144, 9, 1}));
}

}  // namespace
}  // namespace swinscope
