/* steady_program SECONDS RATE: prints its process id, makes ranges at that rate, then prints how many. A thousand
 * names. */
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char** argv) {
  const double length = argc > 1 ? atof(argv[1]) : 1;
  const double rate = argc > 2 ? atof(argv[2]) : 1000;
  char name[32];
  long count = 0;
  nvtxRangePushA("first");
  nvtxRangePop();
  printf("%d\n", (int)getpid());
  fflush(stdout);
  const double begin = seconds();
  for (double now = begin; now < begin + length; now = seconds()) {
    for (; (double)count < rate * (now - begin); ++count) {
      snprintf(name, sizeof(name), "range %ld", count % 1000);
      nvtxRangePushA(name);
      nvtxRangePop();
    }
    usleep(1000);
  }
  printf("ranges: %ld\n", count + 1);
  return 0;
}
