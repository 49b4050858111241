/* Signals: every default action, and programs that live by them. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/integration/record/host_case.h"

static int by_default(int number) {
  ranges(10);
  kill(getpid(), number);
  return 50; /* ignored by default */
}

/* A child lets it go on. */
static int stopped(int number) {
  ranges(10);
  const pid_t child = fork();
  if (child == 0) {
    char state[64] = "";
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/stat", getppid());
    do {
      FILE* file = fopen(path, "re");
      if (file == NULL || fgets(state, sizeof(state), file) == NULL) _exit(1);
      fclose(file);
      usleep(1000);
    } while (strchr(state, 'T') == NULL);
    kill(getppid(), SIGCONT);
    _exit(2);
  }
  kill(getpid(), number);
  ranges(10);
  printf("child: %d\n", status_of(child));
  return 51;
}

static volatile sig_atomic_t hits;
static void emits(int signal) {
  (void)signal;
  ranges(1);
  ++hits;
}
static void emits_with_info(int signal, siginfo_t* info, void* context) {
  (void)context;
  emits(signal);
  if (info->si_code != SI_TKILL && info->si_code != SI_USER) hits += 1000;
}

static int nested(int unused) {
  struct sigaction action = {.sa_sigaction = emits_with_info, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
  (void)unused;
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGUSR2, &action, NULL);
  for (int i = 0; i < 500; ++i) {
    ranges(1);
    raise(i % 2 == 0 ? SIGUSR1 : SIGUSR2);
  }
  printf("hits: %d\n", (int)hits);
  return 52;
}

static int once_only(int unused) {
  struct sigaction action = {.sa_handler = emits, .sa_flags = SA_RESETHAND};
  (void)unused;
  sigaction(SIGTERM, &action, NULL);
  raise(SIGTERM);
  printf("hits: %d\n", (int)hits);
  raise(SIGTERM);
  return 0;
}

static int timers(int kind) {
  static const int kSignals[] = {SIGALRM, SIGVTALRM, SIGPROF};
  const struct itimerval often = {{0, 500}, {0, 500}};
  const struct itimerval never = {{0, 0}, {0, 0}};
  ranges(1);
  signal(kSignals[kind], emits);
  setitimer(kind, &often, NULL);
  while (hits < 20)
    works_a_while();
  setitimer(kind, &never, NULL);
  puts("20 times");
  return 53;
}

static void on_expiry(union sigval value) {
  ranges(1);
  __atomic_store_n((int*)value.sival_ptr, 1, __ATOMIC_RELEASE);
}
static int timer_thread(int unused) {
  static int expired;
  timer_t timer;
  struct sigevent event = {0};
  const struct itimerspec soon = {{0, 0}, {0, 1000000}};
  (void)unused;
  event.sigev_notify = SIGEV_THREAD;
  event.sigev_notify_function = on_expiry;
  event.sigev_value.sival_ptr = &expired;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return 90;
  timer_settime(timer, 0, &soon, NULL);
  while (__atomic_load_n(&expired, __ATOMIC_ACQUIRE) == 0)
    works_a_while();
  puts("expired");
  return 54;
}

static sigjmp_buf target;
static volatile sig_atomic_t may_jump;
static void jumps_out(int signal) {
  (void)signal;
  if (may_jump) siglongjmp(target, 1);
}
static int jumps(int unused) {
  volatile int count = 0;
  const struct itimerval often = {{0, 300}, {0, 300}};
  const struct itimerval never = {{0, 0}, {0, 0}};
  (void)unused;
  ranges(1);
  signal(SIGALRM, jumps_out);
  if (sigsetjmp(target, 1) != 0) ++count;
  may_jump = 1;
  setitimer(ITIMER_REAL, &often, NULL);
  while (count < 100)
    works_a_while();
  may_jump = 0;
  setitimer(ITIMER_REAL, &never, NULL);
  printf("jumps: %d\n", count);
  return 55;
}

static int waits(int with_descriptor) {
  sigset_t set;
  siginfo_t info = {0};
  struct signalfd_siginfo from_file = {0};
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  const int file = with_descriptor ? signalfd(-1, &set, SFD_CLOEXEC) : -1;
  ranges(10);
  kill(getpid(), SIGUSR1);
  if (with_descriptor) {
    printf("read: %d\n", read(file, &from_file, sizeof(from_file)) == sizeof(from_file));
  } else {
    printf("signal: %d\n", sigwaitinfo(&set, &info) == SIGUSR1);
  }
  return 56;
}

/* The masks that a program begins with, and keeps. */
static int masks(int unused) {
  static const char* const kLines[] = {"SigBlk", "SigIgn", "SigCgt", "ShdPnd"};
  (void)unused;
  for (int i = 0; i < 4; ++i)
    printf("%s\n", status_line(kLines[i]));
  ranges(10);
  for (int i = 0; i < 4; ++i)
    printf("%s\n", status_line(kLines[i]));
  return 57;
}

static int ignores(int number) {
  signal(number, SIG_IGN);
  ranges(10);
  raise(number);
  become_case("exec.end");
  return 90;
}

static int interrupted(int unused) {
  int ends[2];
  char byte = 0;
  struct sigaction action = {.sa_handler = emits};
  const struct itimerval soon = {{0, 0}, {0, 1000}};
  (void)unused;
  if (pipe(ends) != 0) return 90;
  sigaction(SIGALRM, &action, NULL);
  ranges(1);
  setitimer(ITIMER_REAL, &soon, NULL);
  const ssize_t got = read(ends[0], &byte, 1);
  printf("read: %d %s\n", (int)got, strerror(errno));
  return 58;
}

#define BY_DEFAULT(number) \
  { "signal." #number, by_default, number }
static const struct host_case rows[] = {
    BY_DEFAULT(SIGHUP),
    BY_DEFAULT(SIGINT),
    BY_DEFAULT(SIGQUIT),
    BY_DEFAULT(SIGILL),
    BY_DEFAULT(SIGTRAP),
    BY_DEFAULT(SIGABRT),
    BY_DEFAULT(SIGBUS),
    BY_DEFAULT(SIGFPE),
    BY_DEFAULT(SIGKILL),
    BY_DEFAULT(SIGUSR1),
    BY_DEFAULT(SIGSEGV),
    BY_DEFAULT(SIGUSR2),
    BY_DEFAULT(SIGPIPE),
    BY_DEFAULT(SIGALRM),
    BY_DEFAULT(SIGTERM),
    BY_DEFAULT(SIGCHLD),
    BY_DEFAULT(SIGCONT),
    BY_DEFAULT(SIGURG),
    BY_DEFAULT(SIGXCPU),
    BY_DEFAULT(SIGXFSZ),
    BY_DEFAULT(SIGVTALRM),
    BY_DEFAULT(SIGPROF),
    BY_DEFAULT(SIGWINCH),
    BY_DEFAULT(SIGIO),
    BY_DEFAULT(SIGPWR),
    BY_DEFAULT(SIGSYS),
    {"signal.first_real_time", by_default, 34},
    {"signal.last_real_time", by_default, 64},
    {"signal.stopped_and_continued", stopped, SIGSTOP},
    {"signal.nested_handlers", nested, 0},
    {"signal.handler_once", once_only, 0},
    {"signal.timer_real", timers, ITIMER_REAL},
    {"signal.timer_virtual", timers, ITIMER_VIRTUAL},
    {"signal.timer_profiling", timers, ITIMER_PROF},
    {"signal.timer_thread", timer_thread, 0},
    {"signal.longjmp", jumps, 0},
    {"signal.waited_for", waits, 0},
    {"signal.signalfd", waits, 1},
    {"signal.masks", masks, 0},
    {"signal.ignored_by_exec", ignores, SIGTERM},
    {"signal.interrupts", interrupted, 0},
};
HOST_CASES(kSignalCases, rows);
