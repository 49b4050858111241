/* State: descriptors, folders, libraries and the globals of the C library that a recorder must leave alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/integration/record/host_case.h"

static int standard_closed(int late) {
  const int kept = dup(STDERR_FILENO);
  if (late) ranges(10);
  for (int i = 0; i < 3; ++i)
    close(i);
  ranges(1000);
  for (int i = 0; i < 3; ++i)
    dprintf(kept, "%d: %s\n", i, fcntl(i, F_GETFD) < 0 ? "closed" : "open");
  dprintf(kept, "next: %d\n", open("/dev/null", O_RDONLY | O_CLOEXEC));
  return 80;
}
static int all_closed(int late) {
  if (late) ranges(10);
  close_range(3, ~0U, 0);
  const int file = open("own", O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
  ranges(1000);
  dprintf(file, "mine\n");
  ranges(1000);
  char text[16] = "";
  printf("%d: %s", (int)pread(file, text, sizeof(text) - 1, 0), text);
  return 81;
}
static int stdin_echoed(int unused) {
  char text[64] = "";
  (void)unused;
  ranges(10);
  printf("read: %d\n", (int)read(STDIN_FILENO, text, sizeof(text)));
  return 82;
}
static int terminals(int unused) {
  (void)unused;
  ranges(1);
  printf("terminals: %d %d %d\n", isatty(0), isatty(1), isatty(2));
  return 83;
}
static int folder_removed(int late) {
  if (late) ranges(10);
  mkdir("gone", 0700);
  if (chdir("gone") != 0 || rmdir("../gone") != 0) return 90;
  ranges(1000);
  printf("folder: %d\n", getcwd(NULL, 0) == NULL);
  return 84;
}
static int folder_changed(int unused) {
  (void)unused;
  if (chdir("/") != 0) return 90;
  ranges(1000);
  char* where = getcwd(NULL, 0);
  puts(where);
  free(where);
  return 85;
}
static int masked(int mask) {
  umask((mode_t)mask);
  ranges(1000);
  printf("mask: %o\n", (unsigned)umask(0));
  return 86;
}
static int environment(int what) {
  if (what == 0) clearenv();
  if (what == 1) setenv("HOME", "/nowhere", 1), setenv("TMPDIR", "/nowhere", 1), unsetenv("PATH");
  ranges(1000);
  printf("HOME: %s\n", getenv("HOME"));
  return 87;
}
extern char** environ;
static int environment_listed(int unused) {
  int count = 0;
  (void)unused;
  while (environ[count] != NULL)
    ++count;
  printf("variables: %d\n", count);
  return 88;
}
/* In the first call and in later ones. */
static int globals(int before) {
  char words[] = "one two three";
  char* rest = NULL;
  ranges(before);
  srand(7);
  const int first = rand();
  strtok(words, " ");
  errno = 77;
  fesetround(FE_DOWNWARD);
  ranges(10);
  printf("errno: %d, rounding: %d\n", errno, fegetround() == FE_DOWNWARD);
  fesetround(FE_TONEAREST);
  rest = strtok(NULL, " ");
  const int second = rand();
  srand(7);
  printf("strtok: %s, rand: %d\n", rest, first == rand() && second == rand());
  return 89;
}
static int locales(int unused) {
  (void)unused;
  setlocale(LC_ALL, "C.UTF-8");
  ranges(10);
  printf("%s %.2f\n", setlocale(LC_NUMERIC, NULL), 1.5);
  return 92;
}
static int library_closed(int unused) {
  const char* path = getenv("NVTX_INJECTION64_PATH");
  (void)unused;
  ranges(10);
  for (int i = 0; i < 20 && path != NULL; ++i) {
    void* library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    if (library == NULL) break;
    dlclose(library);
    dlclose(library);
  }
  ranges(1000);
  puts("closed");
  return 93;
}
static int libraries_loaded(int flags) {
  ranges(10);
  for (int i = 0; i < 100; ++i) {
    void* library = dlopen("libm.so.6", flags);
    if (library == NULL) return 90;
    ranges(5);
    dlclose(library);
  }
  return 94;
}
static int allocator(int unused) {
  (void)unused;
  mallopt(M_MMAP_THRESHOLD, 4096);
  mallopt(M_PERTURB, 165);
  ranges(1000);
  void* memory = malloc(100);
  printf("perturbed: %d\n", *(unsigned char*)memory == (165 ^ 255));
  free(memory);
  malloc_trim(0);
  ranges(1000);
  return 95;
}
static int locks(int unused) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  (void)unused;
  const int file = open("own", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  printf("locked: %d\n", fcntl(file, F_SETLK, &lock));
  ranges(1000);
  const pid_t child = fork();
  if (child == 0) _exit(fcntl(file, F_SETLK, &lock) < 0 ? 5 : 6);
  printf("child: %d\n", status_of(child));
  return 96;
}
static int many_descriptors(int count) {
  for (int i = 0; i < count; ++i) {
    if (dup(STDIN_FILENO) < 0) return 90;
  }
  ranges(1000);
  printf("next: %d\n", dup(STDIN_FILENO) >= count);
  return 97;
}

static const struct host_case rows[] = {
    {"closed.standard", standard_closed, 1},
    {"closed.standard_first", standard_closed, 0},
    {"closed.all", all_closed, 1},
    {"closed.all_first", all_closed, 0},
    {"stdin", stdin_echoed, 0},
    {"terminals", terminals, 0},
    {"folder.removed", folder_removed, 1},
    {"folder.removed_first", folder_removed, 0},
    {"folder.changed_first", folder_changed, 0},
    {"umask.all", masked, 0777},
    {"umask.none", masked, 0},
    {"environment.cleared_first", environment, 0},
    {"environment.changed_first", environment, 1},
    {"environment.counted", environment_listed, 0},
    {"globals", globals, 1},
    {"globals.first", globals, 0},
    {"locale", locales, 0},
    {"dlclose.of_the_collector", library_closed, 0},
    {"dlopen.again_and_again", libraries_loaded, RTLD_NOW},
    {"dlopen.deep_bind", libraries_loaded, RTLD_NOW | RTLD_DEEPBIND},
    {"allocator", allocator, 0},
    {"file_locks", locks, 0},
    {"many_descriptors", many_descriptors, 500},
};
HOST_CASES(kStateCases, rows);
