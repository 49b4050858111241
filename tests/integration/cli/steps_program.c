// steps_program STEPS [NAME]: STEPS ranges NAME ("step") in NVTX's default domain, as a training script would push
// them.
#include <nvtx3/nvToolsExt.h>
#include <stdint.h>
#include <stdlib.h>

static volatile uint64_t sink;

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 0;
  const char* name = argc > 2 ? argv[2] : "step";
  for (int i = 0; i < steps; ++i) {
    nvtxRangePushA(name);
    for (uint64_t k = 0; k < 100000; ++k)
      sink += k;
    nvtxRangePop();
  }
  return 0;
}
