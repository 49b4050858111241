/* Threads: how many, how small, how they end. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/integration/record/host_case.h"

static int many(int count) {
  pthread_t threads[512];
  int made = 0;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  while (made < count && pthread_create(&threads[made], &attributes, ranges_in_thread, NULL) == 0)
    ++made;
  for (int i = 0; i < made; ++i)
    pthread_join(threads[i], NULL);
  printf("threads: %d\n", made);
  return 1;
}

static int churn(int count) {
  for (int i = 0; i < count; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, ranges_in_thread, NULL) != 0) return 90;
    pthread_join(thread, NULL);
  }
  return 2;
}

static int smallest_stack(int ranges_before) {
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 16384);
  ranges(ranges_before);
  printf("created: %d\n", pthread_create(&thread, &attributes, ranges_in_thread, NULL));
  pthread_join(thread, NULL);
  return 3;
}

static void* for_ever(void* unused) {
  for (;;) {
    ranges(10);
    usleep(200);
  }
  return unused;
}
static void* for_ever_anywhere(void* unused) {
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  for (;;)
    works_a_while();
  return unused;
}

static int cancelled(int anywhere) {
  for (int i = 0; i < 50; ++i) {
    pthread_t thread;
    void* result = NULL;
    if (pthread_create(&thread, NULL, anywhere ? for_ever_anywhere : for_ever, NULL) != 0) return 90;
    usleep(200);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    if (result != PTHREAD_CANCELED) puts("not cancelled");
  }
  ranges(10);
  return 4;
}

/* Its cancellation waits for a point of its own, which the first call ever is not. */
static int asked;
static void* asked_before_first_call(void* unused) {
  while (__atomic_load_n(&asked, __ATOMIC_ACQUIRE) == 0)
    sched_yield();
  ranges(10);
  puts("after the call");
  pthread_testcancel();
  return unused;
}
static int cancelled_first(int unused) {
  pthread_t thread;
  void* result = NULL;
  (void)unused;
  pthread_create(&thread, NULL, asked_before_first_call, NULL);
  pthread_cancel(thread);
  __atomic_store_n(&asked, 1, __ATOMIC_RELEASE);
  pthread_join(thread, &result);
  printf("cancelled: %d\n", result == PTHREAD_CANCELED);
  return 14;
}

static int end_beside(int how) {
  for (int i = 0; i < 4; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, for_ever, NULL) != 0) return 90;
    pthread_detach(thread);
  }
  usleep(5000);
  if (how == 1) _exit(6);
  return 5;
}

static void* exits(void* unused) {
  ranges(10);
  exit(7);
  return unused;
}
static int exit_in_thread(int unused) {
  pthread_t thread;
  (void)unused;
  ranges(1);
  if (pthread_create(&thread, NULL, exits, NULL) != 0) return 90;
  for (;;)
    pause();
}

static int leave_main(int unused) {
  pthread_t thread;
  (void)unused;
  ranges(10);
  pthread_create(&thread, NULL, ranges_in_thread, NULL);
  pthread_exit(NULL);
}

/* Emits in every round of the destructors of keys. */
static pthread_key_t key;
static int rounds;
static void emits_at_the_end(void* value) {
  ranges(5);
  ++rounds;
  if ((intptr_t)value < 10) pthread_setspecific(key, (void*)((intptr_t)value + 1));
}
static void* with_key(void* value) {
  pthread_setspecific(key, value);
  ranges(5);
  return NULL;
}
static int key_destructors(int first) {
  pthread_t thread;
  pthread_key_create(&key, emits_at_the_end);
  pthread_create(&thread, NULL, with_key, (void*)(intptr_t)first);
  pthread_join(thread, NULL);
  printf("rounds: %d\n", rounds);
  return 8;
}

/* A program may use up all keys. */
static int all_keys(int ranges_before) {
  int made = 0;
  pthread_key_t unused;
  ranges(ranges_before);
  while (pthread_key_create(&unused, NULL) == 0)
    ++made;
  ranges(10);
  printf("keys that are missing: %d\n", 1024 - made > 8);
  return 9;
}

/* Nothing of ours may be in the way of what a program counts. */
static int entries(const char* folder) {
  int count = 0;
  DIR* open_folder = opendir(folder);
  while (open_folder != NULL && readdir(open_folder) != NULL)
    ++count;
  if (open_folder != NULL) closedir(open_folder);
  return count - 2;
}
static int counts_threads(int unused) {
  (void)unused;
  ranges(100);
  printf("threads: %d\n", entries("/proc/self/task"));
  return 10;
}
static int counts_descriptors(int unused) {
  (void)unused;
  const int before = dup(0);
  close(before);
  ranges(100);
  printf("next: %d, open: %d\n", before == dup(0), entries("/proc/self/fd") - before);
  return 11;
}

static void* in_a_mutex(void* mutex) {
  pthread_mutex_lock(mutex);
  ranges(10);
  return NULL;
}
static int owner_dies(int unused) {
  pthread_mutex_t mutex;
  pthread_mutexattr_t attributes;
  pthread_t thread;
  (void)unused;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex, &attributes);
  pthread_create(&thread, NULL, in_a_mutex, &mutex);
  pthread_join(thread, NULL);
  printf("owner died: %d\n", pthread_mutex_lock(&mutex) == EOWNERDEAD);
  return 12;
}

static int scheduling(int policy) {
  const struct sched_param none = {0};
  cpu_set_t one;
  CPU_ZERO(&one);
  sched_getaffinity(0, sizeof(one), &one);
  for (int i = 0, found = 0; i < CPU_SETSIZE; ++i) {
    if (!CPU_ISSET(i, &one)) continue;
    if (found++ != 0) CPU_CLR(i, &one);
  }
  printf("policy: %d, affinity: %d, nice: %d\n", sched_setscheduler(0, policy, &none),
         sched_setaffinity(0, sizeof(one), &one), setpriority(PRIO_PROCESS, 0, 19));
  ranges(100);
  printf("policy: %d, cores: %d\n", sched_getscheduler(0), CPU_COUNT(&one));
  return 13;
}

static const struct host_case rows[] = {
    {"threads.many", many, 200},
    {"threads.churn", churn, 500},
    {"threads.smallest_stack", smallest_stack, 1},
    {"threads.smallest_stack_first", smallest_stack, 0},
    {"threads.cancelled", cancelled, 0},
    {"threads.cancelled_anywhere", cancelled, 1},
    {"threads.cancelled_first", cancelled_first, 0},
    {"threads.exit_beside", end_beside, 0},
    {"threads._exit_beside", end_beside, 1},
    {"threads.exit_in_thread", exit_in_thread, 0},
    {"threads.pthread_exit_of_main", leave_main, 0},
    {"threads.key_destructors", key_destructors, 1},
    {"threads.all_keys", all_keys, 1},
    {"threads.all_keys_first", all_keys, 0},
    {"threads.counted", counts_threads, 0},
    {"threads.descriptors_counted", counts_descriptors, 0},
    {"threads.owner_dies", owner_dies, 0},
    {"threads.batch", scheduling, SCHED_BATCH},
    {"threads.idle", scheduling, SCHED_IDLE},
};
HOST_CASES(kThreadCases, rows);
