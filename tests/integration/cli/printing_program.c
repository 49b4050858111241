// printing_program STEPS [EVERY [buffered]]: works STEPS times and prints a line every EVERY of them, by stdio, as any
// C program would; with "buffered" as one that has given stdio a large buffer.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile uint64_t sink;

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 0;
  const int every = argc > 2 ? atoi(argv[2]) : 1;
  if (argc > 3 && strcmp(argv[3], "buffered") == 0) setvbuf(stdout, NULL, _IOFBF, 1 << 16);
  printf("starting %d steps\n", steps);
  for (int i = 1; i <= steps; ++i) {
    for (uint64_t k = 0; k < 10000000; ++k)
      sink += k;
    if (i % every == 0) printf("step %d residual %.3f\n", i, 1.0 / i);
  }
  return 0;
}
