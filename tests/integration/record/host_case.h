// Programs that are hard to record: one function each, of files by kind (host_*.c). Each prints what it finds out about
// its own life; that, and its status, are to be the same under a recorder as alone. No output may depend on time,
// process ids or addresses. What a case needs and is not permitted it says in its output, alike in both.
#pragma once

#include <stddef.h>
#include <sys/types.h>

struct host_case {
  const char* name;
  int (*run)(int argument);
  int argument;
};

struct host_cases {
  const struct host_case* rows;
  size_t count;
};

extern const struct host_cases kThreadCases;
extern const struct host_cases kProcessCases;
extern const struct host_cases kEndCases;
extern const struct host_cases kSignalCases;
extern const struct host_cases kLimitCases;
extern const struct host_cases kStateCases;

#define HOST_CASES(name, rows) const struct host_cases name = {rows, sizeof(rows) / sizeof((rows)[0])}

/* So many ranges. */
void ranges(long count);
/* CPU time with a range in it: a flood of ranges is another test. */
void works_a_while(void);
/* The start of a thread that makes 20 ranges. */
void* ranges_in_thread(void* unused);
/* Waits. The exit status, 128 + n for signal n. */
int status_of(pid_t child);
/* exec of this program with another case. */
void become_case(const char* name);
/* The path of this program. */
const char* host_path(void);
/* A number out of a line "name: value" of /proc/self/status, as text; static memory. */
const char* status_line(const char* name);
