/* host_programs CASE: see host_case.h. `host_programs list` names them. */
#define _GNU_SOURCE
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/integration/record/host_case.h"

/* Its cases end as they would without sanitizers, which turn a crash into a report and status 1. */
const char* __asan_default_options(void) { return "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0"; }
const char* __tsan_default_options(void) { return "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0"; }

void ranges(long count) {
  for (long i = 0; i < count; ++i) {
    nvtxRangePushA("r");
    nvtxRangePop();
  }
}

void works_a_while(void) {
  ranges(1);
  for (volatile int i = 0; i < 20000; ++i) {
  }
}

void* ranges_in_thread(void* unused) {
  ranges(20);
  return unused;
}

int status_of(pid_t child) {
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static char path[4096];
const char* host_path(void) { return path; }

void become_case(const char* name) { execl(path, path, name, (char*)NULL); }

const char* status_line(const char* name) {
  static char line[256];
  FILE* file = fopen("/proc/self/status", "re");
  while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
    if (strncmp(line, name, strlen(name)) == 0) break;
    line[0] = '\0';
  }
  if (file != NULL) fclose(file);
  line[strcspn(line, "\n")] = '\0';
  return line;
}

int main(int argc, char** argv) {
  const struct host_cases* const kinds[] = {&kThreadCases, &kProcessCases, &kEndCases,
                                            &kSignalCases, &kLimitCases,   &kStateCases};
  const char* wanted = argc > 1 ? argv[1] : "list";
  const struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0) return 65;
  setvbuf(stdout, NULL, _IOLBF, 0);
  int is_found = 0;
  for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); ++kind) {
    for (size_t i = 0; i < kinds[kind]->count; ++i) {
      const struct host_case* row = &kinds[kind]->rows[i];
      if (strcmp(wanted, "list") == 0) puts(row->name);
      if (strcmp(wanted, row->name) == 0) return row->run(row->argument);
      is_found |= strcmp(wanted, "list") == 0;
    }
  }
  return is_found ? 0 : 64;
}
