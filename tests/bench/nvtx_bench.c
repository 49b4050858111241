// What an NVTX range costs the program: ns for a push and its pop, median of rounds. Run it alone and under
// `swinscope record`. Rounds are short against the collector's buffer, and the pauses between them let it be written.
#define _GNU_SOURCE
#include <nvtx3/nvToolsExt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kRounds = 41, kPairs = 5000 };

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(void) {
  static double pair_ns[kRounds];
  for (int round = 0; round < kRounds; ++round) {
    const int64_t begin_ns = now_ns();
    for (int i = 0; i < kPairs; ++i) {
      nvtxRangePushA("stage3.block5.attn.qkv");
      nvtxRangePop();
    }
    pair_ns[round] = (double)(now_ns() - begin_ns) / kPairs;
    const struct timespec pause = {0, 20000000};
    nanosleep(&pause, NULL);
  }
  qsort(pair_ns, kRounds, sizeof(pair_ns[0]), compare);
  printf("push and pop: median %.0f ns, fastest %.0f ns (%d rounds of %d pairs)\n", pair_ns[kRounds / 2], pair_ns[0],
         kRounds, kPairs);
  return 0;
}
