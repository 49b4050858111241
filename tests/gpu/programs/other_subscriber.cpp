// other_subscriber: another tool that claims CUPTI before CUDA is initialized, then runs a few kernels' worth of CUDA
// work. CUPTI and the driver are opened at run time, so that it builds anywhere.
#include <cstdio>

#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>

int main() {
  void* cupti = dlopen("libcupti.so.13", RTLD_NOW | RTLD_GLOBAL);
  if (cupti == nullptr) cupti = dlopen("libcupti.so.12", RTLD_NOW | RTLD_GLOBAL);
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (cupti == nullptr || driver == nullptr) {
    std::puts("no CUPTI or no driver");
    return 77;
  }
  using Subscribe = int (*)(void**, void (*)(void*, unsigned, unsigned, const void*), void*);
  using Init = int (*)(unsigned);
  using Retain = int (*)(void**, int);
  void* subscriber = nullptr;
  const auto subscribe = reinterpret_cast<Subscribe>(dlsym(cupti, "cuptiSubscribe"));
  std::printf("subscribe %d\n", subscribe(
                                    &subscriber, [](void*, unsigned, unsigned, const void*) {}, nullptr));
  nvtxRangePushA("work");
  void* context = nullptr;
  std::printf("init %d\n", reinterpret_cast<Init>(dlsym(driver, "cuInit"))(0));
  std::printf("context %d\n", reinterpret_cast<Retain>(dlsym(driver, "cuDevicePrimaryCtxRetain"))(&context, 0));
  nvtxRangePop();
  return 5;
}
