// stepped_kernels STEPS MS: in each step, a range "step N", ten kernels with N bytes of dynamic shared memory, then a
// pause. Steps 5 to 8 lie in a range "hot" and between cudaProfilerStart and cudaProfilerStop.
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

__global__ void stepped(int* out) {
  if (out != nullptr) *out = 1;
}

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 12;
  const int pause_ms = argc > 2 ? std::atoi(argv[2]) : 1;
  constexpr int kHotFirst = 5;
  constexpr int kHotEnd = 9;
  constexpr int kKernels = 10;
  for (int step = 0; step < steps; ++step) {
    if (step == kHotFirst) {
      nvtxRangePushA("hot");
      cudaProfilerStart();
    }
    nvtxRangePushA(("step " + std::to_string(step)).c_str());
    for (int i = 0; i < kKernels; ++i)
      stepped<<<1, 1, static_cast<std::size_t>(step)>>>(nullptr);
    cudaDeviceSynchronize();
    nvtxRangePop();
    if (step + 1 == kHotEnd) {
      cudaProfilerStop();
      nvtxRangePop();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
  }
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
