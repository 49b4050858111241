/* Preloaded into faulty_program: calls of the C library fail within NVTX's functions, where the program says so. Faults
 * are those of calls that return an error; what they stand for is no memory, no descriptor, no locks. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static __thread int depth __attribute__((tls_model("initial-exec")));
static int calls;
static int first;     /* the call that fails, from 1; 0: none */
static int for_ever;  /* those behind it, too */
static char kind[32]; /* of calls */

void faults_enter(void) { ++depth; }
void faults_leave(void) { --depth; }
void faults_set(const char* name, int number, int all) {
  snprintf(kind, sizeof(kind), "%s", name);
  for_ever = all;
  first = number;
}

static int fails(const char* name) {
  if (depth == 0 || first == 0 || strcmp(name, kind) != 0) return 0;
  const int number = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
  return number == first || (for_ever && number > first);
}

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* memory, size_t size);

void* malloc(size_t size) {
  if (!fails("memory")) return __libc_malloc(size);
  errno = ENOMEM;
  return NULL;
}
void* calloc(size_t count, size_t size) {
  if (!fails("memory")) return __libc_calloc(count, size);
  errno = ENOMEM;
  return NULL;
}
void* realloc(void* memory, size_t size) {
  if (!fails("memory")) return __libc_realloc(memory, size);
  errno = ENOMEM;
  return NULL;
}

#define REAL(result, name, ...)       \
  static result (*real)(__VA_ARGS__); \
  if (real == NULL) real = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

int open(const char* path, int flags, ...) {
  REAL(int, open, const char*, int, ...);
  va_list arguments;
  va_start(arguments, flags);
  const int mode = va_arg(arguments, int);
  va_end(arguments);
  if (!fails("open")) return real(path, flags, mode);
  errno = EMFILE;
  return -1;
}
void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) {
  REAL(void*, mmap, void*, size_t, int, int, int, off_t);
  if (!fails("mmap")) return real(at, size, protection, flags, file, offset);
  errno = ENOMEM;
  return MAP_FAILED;
}
int madvise(void* at, size_t size, int advice) {
  REAL(int, madvise, void*, size_t, int);
  if (!fails("madvise")) return real(at, size, advice);
  errno = ENOMEM;
  return -1;
}
int ftruncate(int file, off_t size) {
  REAL(int, ftruncate, int, off_t);
  if (!fails("ftruncate")) return real(file, size);
  errno = ENOSPC;
  return -1;
}
int fcntl(int file, int command, ...) {
  REAL(int, fcntl, int, int, ...);
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  if (!fails("fcntl")) return real(file, command, argument);
  errno = ENOLCK;
  return -1;
}
int pthread_key_create(pthread_key_t* key, void (*destructor)(void*)) {
  REAL(int, pthread_key_create, pthread_key_t*, void (*)(void*));
  return fails("key") ? EAGAIN : real(key, destructor);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  REAL(int, pthread_create, pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  return fails("thread") ? EAGAIN : real(thread, attributes, start, argument);
}
