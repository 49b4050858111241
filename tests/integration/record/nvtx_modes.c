/* nvtx_modes MODE [N]: programs that make a recorder's life hard, each a few lines. */
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void range(const char* name) {
  nvtxRangePushA(name);
  nvtxRangePop();
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double cpu_of(const struct rusage* usage) {
  return (double)usage->ru_utime.tv_sec + (double)usage->ru_stime.tv_sec +
         1e-6 * (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

static void burn(double seconds) {
  struct rusage usage;
  do {
    for (volatile int i = 0; i < 100000; ++i) {
    }
    getrusage(RUSAGE_SELF, &usage);
  } while (cpu_of(&usage) < seconds);
}

/* Ranges with numbers for ever; each number also goes to stdout when it is reached, with the time. */
static int numbered(long per_second) {
  nvtxRangePushA("all");
  const double begin = now();
  for (long i = 0;; ++i) {
    char name[32];
    snprintf(name, sizeof(name), "n%ld", i);
    range(name);
    if (i % 100 == 0) {
      printf("%ld %.6f\n", i, now());
      fflush(stdout);
    }
    while (now() < begin + (double)i / (double)per_second)
      usleep(200);
  }
}

/* The parent and `children` forked children, each with a few ranges of its own. */
static int forking(int children) {
  range("before fork");
  nvtxRangePushA("around fork");
  for (int i = 0; i < children; ++i) {
    const pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) {
      char name[32];
      snprintf(name, sizeof(name), "child %d", i);
      nvtxRangePop(); /* the parent's, which the child does not have */
      range(name);
      exit(i);
    }
  }
  nvtxRangePop();
  int sum = 0;
  for (int i = 0; i < children; ++i) {
    int status = 0;
    wait(&status);
    sum += WEXITSTATUS(status);
  }
  range("after fork");
  return sum;
}

/* As torch's DataLoader: workers that inherit RANK, touch neither CUDA nor NVTX, and end by _exit. Prints what
 * getrusage says. */
static int loader(int workers) {
  nvtxRangePushA("epoch");
  for (int i = 0; i < workers; ++i) {
    if (fork() == 0) {
      burn(0.4 + 0.1 * i);
      _exit(0);
    }
  }
  burn(0.3);
  while (wait(NULL) > 0) {
  }
  nvtxRangePop();
  struct rusage self;
  struct rusage children;
  getrusage(RUSAGE_SELF, &self);
  getrusage(RUSAGE_CHILDREN, &children);
  printf("%.6f %.6f\n", cpu_of(&self), cpu_of(&children));
  return 0;
}

/* The same pid, again and again. */
static int exec_chain(const char* self, int left) {
  char name[32];
  char count[16];
  snprintf(name, sizeof(name), "image %d", left);
  range(name);
  if (left == 0) return 9;
  /* Long enough for a commit: exec gives no chance to finish. */
  usleep(600000);
  snprintf(count, sizeof(count), "%d", left - 1);
  execl(self, self, "exec", count, (char*)NULL);
  return 1;
}

static void* emit_for_ever(void* unused) {
  (void)unused;
  for (;;)
    range("still here");
  return NULL;
}

/* main returns while threads go on. */
static int running_threads(void) {
  pthread_t thread;
  for (int i = 0; i < 3; ++i)
    pthread_create(&thread, NULL, emit_for_ever, NULL);
  for (int i = 0; i < 1000; ++i)
    range("main");
  return 5;
}

/* What the collector has noted as lost for want of space. */
static int disk_is_full(void) {
  char path[4096];
  char text[4096] = "";
  snprintf(path, sizeof(path), "%s/rank0.db-drops", getenv("SWINSCOPE_OUT"));
  FILE* note = fopen(path, "r");
  if (note == NULL) return 0;
  if (fread(text, 1, sizeof(text) - 1, note) == 0) text[0] = '\0';
  fclose(note);
  return strstr(text, "disk") != NULL;
}

/* Ranges until the disk is full and some more, not faster than a writer can take them. Prints how many. */
static int flood(void) {
  long count = 0;
  for (int left = 100; left > 0; left -= disk_is_full()) {
    for (int i = 0; i < 100; ++i) {
      char name[64];
      snprintf(name, sizeof(name), "a range with a rather long name of its own %ld", count++);
      range(name);
    }
    usleep(2000);
  }
  printf("ranges: %ld\n", count);
  return 17;
}

static void last_words(void) { range("in atexit"); }

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  const long n = argc > 2 ? atol(argv[2]) : 0;
  if (strcmp(mode, "numbered") == 0) return numbered(n);
  if (strcmp(mode, "fork") == 0) return forking((int)n);
  if (strcmp(mode, "loader") == 0) return loader((int)n);
  if (strcmp(mode, "exec") == 0) return exec_chain(argv[0], (int)n);
  if (strcmp(mode, "threads") == 0) return running_threads();
  if (strcmp(mode, "atexit") == 0) return atexit(last_words), range("in main"), 0;
  if (strcmp(mode, "abort") == 0) range("before abort"), abort();
  if (strcmp(mode, "flood") == 0) return flood();
  return 64;
}
