/* Ends: what runs at the end of a program, and how it may be cut short. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/integration/record/host_case.h"

static int speaks_at_end;

static void at_end(void) {
  if (!speaks_at_end) return;
  ranges(5);
  puts("handler of a constructor");
}
__attribute__((constructor)) static void registers_early(void) { atexit(&at_end); }
__attribute__((destructor)) static void destructor(void) {
  if (!speaks_at_end) return;
  ranges(5);
  fputs("destructor\n", stderr);
}
static void at_end_of_main(void) {
  ranges(5);
  puts("handler of main");
}
static void quickly(void) {
  ranges(5);
  puts("quick handler");
  fflush(stdout);
}

static int handlers(int status) {
  speaks_at_end = 1;
  atexit(&at_end_of_main);
  ranges(10);
  return status;
}

static int quick(int status) {
  at_quick_exit(&quickly);
  ranges(10);
  quick_exit(status);
}

static int at_once(int status) {
  ranges(1000);
  fputs("lost in the buffer of a file", stdout);
  _exit(status);
}

static int aborts(int unused) {
  (void)unused;
  ranges(10);
  abort();
}

static void exits_again(void) { _exit(44); }
static int exit_in_handler(int unused) {
  (void)unused;
  atexit(&exits_again);
  ranges(10);
  exit(43);
}

static int large_status(int status) {
  ranges(10);
  exit(status);
}

__attribute__((noinline)) static int deeper(int n) {
  volatile char space[4096];
  space[0] = (char)n;
  if (n % 64 == 0) ranges(1);
  return deeper(n + 1) + space[0];
}
static int overflows(int unused) {
  (void)unused;
  return deeper(1);
}

static sigjmp_buf target;
static void back(int signal) {
  (void)signal;
  siglongjmp(target, 1);
}
/* On a stack of its own, out of the overflow, and on. */
static int survives_overflow(int unused) {
  static char memory[65536];
  const stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};
  struct sigaction action = {.sa_handler = back, .sa_flags = SA_ONSTACK};
  (void)unused;
  sigaltstack(&stack, NULL);
  sigaction(SIGSEGV, &action, NULL);
  ranges(10);
  if (sigsetjmp(target, 1) == 0) deeper(1);
  ranges(10);
  puts("back");
  return 47;
}

static int reads_nothing(int unused) {
  (void)unused;
  ranges(10);
  *(volatile int*)8 = 1; /* NOLINT: on purpose */
  return 0;
}

static int runs_data(int unused) {
  (void)unused;
  ranges(10);
  void* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void (*function)(void) = NULL;
  memcpy(&function, &page, sizeof(page));
  function();
  return 0;
}

static int stdout_is_closed_early(int unused) {
  int ends[2];
  (void)unused;
  if (pipe(ends) != 0) return 90;
  ranges(10);
  close(ends[0]);
  if (write(ends[1], "x", 1) < 0) return 91;
  return 0;
}

static const struct host_case rows[] = {
    {"end.handlers", handlers, 40},
    {"end.quick_exit", quick, 41},
    {"end._exit", at_once, 42},
    {"end.abort", aborts, 0},
    {"end.exit_in_handler", exit_in_handler, 0},
    {"end.status_255", large_status, 255},
    {"end.status_256", large_status, 256},
    {"end.stack_overflow", overflows, 0},
    {"end.survives_stack_overflow", survives_overflow, 0},
    {"end.bad_address", reads_nothing, 0},
    {"end.runs_data", runs_data, 0},
    {"end.broken_pipe", stdout_is_closed_early, 0},
};
HOST_CASES(kEndCases, rows);
