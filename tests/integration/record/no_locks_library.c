/* Preloaded into a recorder: no file can be locked, as on a network file system without a lock manager. A program that
 * waits for a lock that it does not get ends at the tenth try. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>

enum { kMostTries = 10 };

static int locked(const char* name, int file, int command, void* argument) {
  static int tries;
  if (command == F_SETLK || command == F_SETLKW || command == F_GETLK) {
    if (__atomic_add_fetch(&tries, 1, __ATOMIC_RELAXED) > kMostTries) _Exit(99);
    errno = ENOLCK;
    return -1;
  }
  int (*real)(int, int, ...) = (int (*)(int, int, ...))dlsym(RTLD_NEXT, name);
  return real(file, command, argument);
}

int fcntl(int file, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return locked("fcntl", file, command, argument);
}

int fcntl64(int file, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return locked("fcntl64", file, command, argument);
}
