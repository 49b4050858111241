// cuda_program MODE: a CUDA program as the collector sees one, without CUDA: it loads the library that is injected as
// the driver does, and launches the kernels of fake_cupti_library.
//   steps   twelve ranges "step N" with ten kernels of that number; steps 5 to 8 in a range "hot" and in
//   cudaProfilerStart until   launches kernels, numbered from 0, until recording has begun and ended again; says
//   "ready" and "open"
//   loop    ten times the kernels first, second and third, without ranges; its status is 0
#include <cstdio>
#include <cstdlib>
#include <string>

#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

namespace {

using Launch = bool (*)(int);
using Profiler = void (*)(bool);

constexpr int kSteps = 12;
constexpr int kHotFirst = 5;
constexpr int kHotEnd = 9;
constexpr int kKernels = 10;

void run_steps(Launch launch, Profiler profiler) {
  for (int step = 0; step < kSteps; ++step) {
    if (step == kHotFirst) {
      nvtxRangePushA("hot");
      profiler(true);
    }
    nvtxRangePushA(("step " + std::to_string(step)).c_str());
    for (int i = 0; i < kKernels; ++i)
      launch(step);
    nvtxRangePop();
    if (step + 1 == kHotEnd) {
      profiler(false);
      nvtxRangePop();
    }
  }
}

void run_until(Launch launch) {
  std::puts("ready");
  std::fflush(stdout);
  int number = 0;
  for (; !launch(number); ++number)
    usleep(1000);
  std::puts("open");
  std::fflush(stdout);
  while (launch(++number))
    usleep(100);
}

void run_loop(bool (*launch_named)(int, const char*)) {
  for (int round = 0; round < kKernels; ++round) {
    for (const char* symbol : {"_Z5firstPi", "_Z6secondPi", "_Z5thirdPi"})
      launch_named(round, symbol);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* collector = std::getenv("CUDA_INJECTION64_PATH");
  const char* cupti = std::getenv("SWINSCOPE_CUPTI");
  if (argc < 2 || collector == nullptr || cupti == nullptr) return 2;
  void* injected = dlopen(collector, RTLD_NOW);
  void* fake = dlopen(cupti, RTLD_NOW);
  if (injected == nullptr || fake == nullptr) return 3;
  const auto launch = reinterpret_cast<Launch>(dlsym(fake, "fake_launch"));
  const auto profiler = reinterpret_cast<Profiler>(dlsym(fake, "fake_profiler"));
  reinterpret_cast<int (*)()>(dlsym(injected, "InitializeInjection"))();
  if (std::string(argv[1]) == "loop") {
    run_loop(reinterpret_cast<bool (*)(int, const char*)>(dlsym(fake, "fake_launch_named")));
    return 0;
  }
  if (std::string(argv[1]) == "steps") {
    run_steps(launch, profiler);
  } else {
    run_until(launch);
  }
  return 7;
}
