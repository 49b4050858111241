/* Preloaded into faulty_program: calls of the C library fail within NVTX's functions, where the program says so. Faults
 * are those of calls that return an error; what they stand for is no memory, no descriptor, no locks.
 *
 * FAULTS="KIND N once|ever PROGRAM": in all of a program of that name. FAULTS_REPORT: a file that gets a byte when a
 * call failed, so that a sweep knows when N is beyond the last one. */
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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
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

static int is_whole_program; /* that fails, not what lies between enter and leave */

__attribute__((constructor)) static void read_faults(void) {
  char how[8] = "";
  char program[64] = "";
  const char* text = getenv("FAULTS");
  if (text == NULL || sscanf(text, "%31s %d %7s %63s", kind, &first, how, program) != 4) return;
  for_ever = strcmp(how, "ever") == 0;
  is_whole_program = strcmp(program, program_invocation_short_name) == 0;
}

static void report(void) {
  static int is_reported;
  const char* path = getenv("FAULTS_REPORT");
  if (path == NULL || __atomic_exchange_n(&is_reported, 1, __ATOMIC_RELAXED) != 0) return;
  const long file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  syscall(SYS_write, file, "x", 1);
  syscall(SYS_close, file);
}

static int fails(const char* name) {
  if ((depth == 0 && !is_whole_program) || first == 0 || strcmp(name, kind) != 0) return 0;
  const int number = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
  if (number != first && (!for_ever || number < first)) return 0;
  report();
  return 1;
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
int pthread_setspecific(pthread_key_t key, const void* value) {
  REAL(int, pthread_setspecific, pthread_key_t, const void*);
  return fails("setspecific") ? ENOMEM : real(key, value);
}
/* Of "jump" the calendar alone is wrong: an hour ahead, as if it had been set. */
int clock_gettime(clockid_t clock, struct timespec* time) {
  if (fails("clock")) {
    errno = EINVAL;
    return -1;
  }
  const int result = (int)syscall(SYS_clock_gettime, clock, time);
  if (clock == CLOCK_REALTIME && fails("jump")) time->tv_sec += 3600;
  return result;
}

/* One function: its kind, what it gives when it fails, and why. */
#define FAILING(result, name, kind, failed, why, parameters, ...)           \
  result name parameters {                                                  \
    static result(*real) parameters;                                        \
    if (real == NULL) real = (result(*) parameters)dlsym(RTLD_NEXT, #name); \
    if (!fails(kind)) return real(__VA_ARGS__);                             \
    errno = why;                                                            \
    return failed;                                                          \
  }
FAILING(ssize_t, write, "write", -1, ENOSPC, (int file, const void* bytes, size_t size), file, bytes, size)
FAILING(ssize_t, pwrite64, "write", -1, ENOSPC, (int file, const void* bytes, size_t size, off64_t at), file, bytes,
        size, at)
FAILING(ssize_t, read, "read", -1, EIO, (int file, void* bytes, size_t size), file, bytes, size)
FAILING(ssize_t, pread64, "read", -1, EIO, (int file, void* bytes, size_t size, off64_t at), file, bytes, size, at)
FAILING(int, fstat, "stat", -1, EIO, (int file, struct stat* info), file, info)
FAILING(int, stat, "stat", -1, EIO, (const char* path, struct stat* info), path, info)
FAILING(int, lstat, "stat", -1, EIO, (const char* path, struct stat* info), path, info)
FAILING(int, unlink, "name", -1, EACCES, (const char* path), path)
FAILING(int, rename, "name", -1, EACCES, (const char* from, const char* to), from, to)
FAILING(int, mkdir, "name", -1, EACCES, (const char* path, mode_t mode), path, mode)
FAILING(int, chmod, "name", -1, EPERM, (const char* path, mode_t mode), path, mode)
FAILING(ssize_t, readlink, "name", -1, EACCES, (const char* path, char* to, size_t size), path, to, size)
FAILING(int, ftruncate64, "ftruncate", -1, ENOSPC, (int file, off64_t size), file, size)
FAILING(void*, mmap64, "mmap", MAP_FAILED, ENOMEM,
        (void* at, size_t size, int protection, int flags, int file, off64_t offset), at, size, protection, flags, file,
        offset)

/* The same functions, on 64 bits. */
int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const int mode = va_arg(arguments, int);
  va_end(arguments);
  return open(path, flags, mode);
}
int fcntl64(int file, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return fcntl(file, command, argument);
}
