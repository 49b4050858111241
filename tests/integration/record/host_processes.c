/* Processes: every way to make one, and what a parent sees of them. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/integration/record/host_case.h"

extern char** environ;

static pid_t fork_without_handlers(void) { return (pid_t)syscall(SYS_fork); }

static int children(int raw) {
  int sum = 0;
  for (int i = 0; i < 20; ++i) {
    ranges(5);
    const pid_t child = raw ? fork_without_handlers() : fork();
    if (child == 0) {
      ranges(5);
      if (i % 2 == 0) exit(i);
      _exit(i);
    }
    sum += status_of(child);
  }
  printf("sum: %d\n", sum);
  return 20;
}

static int tree(int depth) {
  ranges(3);
  if (depth == 0) return 1;
  int leaves = 0;
  for (int i = 0; i < 2; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(tree(depth - 1));
    leaves += status_of(child);
  }
  return leaves;
}

static void* for_ever(void* stop) {
  while (__atomic_load_n((int*)stop, __ATOMIC_RELAXED) == 0) {
    ranges(10);
    usleep(200);
  }
  return NULL;
}
static int fork_beside_threads(int unused) {
  int stop = 0;
  int wrong = 0;
  pthread_t threads[4];
  (void)unused;
  ranges(1);  // a child that is forked within NVTX's own initialization waits for ever
  for (int i = 0; i < 4; ++i)
    pthread_create(&threads[i], NULL, for_ever, &stop);
  for (int i = 0; i < 30; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      ranges(5);
      exit(9);
    }
    wrong += status_of(child) != 9;
  }
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < 4; ++i)
    pthread_join(threads[i], NULL);
  printf("wrong: %d\n", wrong);
  return 22;
}

static int vforks(int with_exec) {
  int sum = 0;
  for (int i = 0; i < 10; ++i) {
    ranges(5);
    const pid_t child = vfork();
    if (child == 0) {
      if (with_exec) execl("/bin/false", "false", (char*)NULL);
      _exit(3);
    }
    sum += status_of(child);
  }
  printf("sum: %d\n", sum);
  return 23;
}

static int spawns(int unused) {
  char name[] = "true";
  char* const arguments[] = {name, NULL};
  int sum = 0;
  (void)unused;
  for (int i = 0; i < 10; ++i) {
    pid_t child = -1;
    ranges(5);
    if (posix_spawnp(&child, name, NULL, NULL, arguments, environ) != 0) return 90;
    sum += status_of(child);
  }
  printf("sum: %d\n", sum);
  return 24;
}

static int shells(int unused) {
  char line[64] = "";
  (void)unused;
  ranges(5);
  printf("system: %d\n", WEXITSTATUS(system("echo out; echo err >&2; exit 4")));
  FILE* pipe = popen("echo from the pipe", "r");
  if (pipe != NULL && fgets(line, sizeof(line), pipe) != NULL) fputs(line, stdout);
  printf("pclose: %d\n", pipe == NULL ? -1 : pclose(pipe));
  return 25;
}

static int exec_chain(int left) {
  static const char* const next[] = {"exec.end", "exec.chain1", "exec.chain2", "exec.chain3"};
  ranges(5);
  become_case(next[left - 1]);
  return 90;
}
static int exec_end(int status) {
  ranges(5);
  return status;
}

static int exec_script(int unused) {
  (void)unused;
  FILE* script = fopen("script", "we");
  if (script == NULL) return 90;
  fputs("#!/bin/sh\necho script \"$1\"\nexit 6\n", script);
  fclose(script);
  chmod("script", 0700);
  ranges(5);
  execl("./script", "script", "argument", (char*)NULL);
  return 91;
}

static int exec_without_environment(int unused) {
  char* const nothing[] = {NULL};
  (void)unused;
  ranges(5);
  execle(host_path(), host_path(), "exec.end", (char*)NULL, nothing);
  return 90;
}

static int exec_long_arguments(int bytes) {
  char* text = malloc((size_t)bytes + 1);
  memset(text, 'x', (size_t)bytes);
  text[bytes] = '\0';
  ranges(5);
  execl(host_path(), host_path(), "exec.end", text, text, text, (char*)NULL);
  return 90;
}

static int exec_in_thread_body(void* name) {
  ranges(5);
  become_case(name);
  return 0;
}
static void* exec_in_thread(void* name) { return (void*)(intptr_t)exec_in_thread_body(name); }
static int exec_of_a_thread(int unused) {
  pthread_t thread;
  static char name[] = "exec.end";
  (void)unused;
  ranges(5);
  pthread_create(&thread, NULL, exec_in_thread, name);
  for (;;)
    pause();
}

static int exec_nothing(int unused) {
  (void)unused;
  ranges(5);
  execl("/nowhere", "nowhere", (char*)NULL);
  printf("exec: %s\n", strerror(errno));
  return 30;
}

/* What lives on when the program has ended writes nothing that the parent waits for. */
static int daemons(int close_all) {
  ranges(5);
  const pid_t child = fork();
  if (child != 0) return status_of(child) + 31;
  setsid();
  if (fork() != 0) _exit(0);
  if (chdir("/") != 0) _exit(1);
  for (int i = 0; i < (close_all ? 256 : 3); ++i)
    close(i);
  ranges(100);
  usleep(20000);
  ranges(100);
  _exit(0);
}

static int no_other_child(int unused) {
  (void)unused;
  ranges(100);
  printf("children: %d %s\n", waitpid(-1, NULL, WNOHANG), strerror(errno));
  return 32;
}

/* The orphans of a program that reaps are its own. */
static int reaper(int unused) {
  int reaped = 0;
  (void)unused;
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  for (int i = 0; i < 5; ++i) {
    if (fork() != 0) continue;
    if (fork() == 0) ranges(5);
    _exit(0);
  }
  while (wait(NULL) > 0)
    ++reaped;
  printf("reaped: %d\n", reaped);
  return 33;
}

static int ignores_children(int unused) {
  (void)unused;
  signal(SIGCHLD, SIG_IGN);
  const pid_t child = fork();
  if (child == 0) {
    ranges(5);
    _exit(3);
  }
  printf("status: %d\n", status_of(child));
  return 34;
}

static int dies_with_parent(int unused) {
  int ends[2];
  char byte = 0;
  (void)unused;
  if (pipe(ends) != 0) return 90;
  const pid_t parent = fork();
  if (parent == 0) {
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
      ranges(5);
      if (write(ends[1], "r", 1) != 1) _exit(1);
      for (;;)
        pause();
    }
    if (read(ends[0], &byte, 1) != 1) _exit(1);
    _exit(0);
  }
  close(ends[1]);
  printf("parent: %d\n", status_of(parent));
  printf("child has ended: %d\n", read(ends[0], &byte, 1) == 0);
  return 35;
}

static int traces(int unused) {
  int status = 0;
  (void)unused;
  ranges(5);
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(2);
    raise(SIGSTOP);
    ranges(10);
    _exit(3);
  }
  waitpid(child, &status, 0);
  printf("stopped: %d\n", WIFSTOPPED(status));
  ptrace(PTRACE_CONT, child, NULL, NULL);
  printf("status: %d\n", status_of(child));
  return 36;
}

static int groups(int unused) {
  (void)unused;
  ranges(5);
  const pid_t child = fork();
  if (child == 0) {
    ranges(5);
    _exit(setsid() == getpid() && getpgrp() == getpid() ? 5 : 6);
  }
  printf("session: %d, group: %d\n", status_of(child), setpgid(0, 0));
  return 37;
}

static int zombies(int count) {
  for (int i = 0; i < count; ++i) {
    if (fork() == 0) _exit(0);
  }
  ranges(100);
  return 38;
}

static const struct host_case rows[] = {
    {"fork.children", children, 0},
    {"fork.without_handlers", children, 1},
    {"fork.tree", tree, 4},
    {"fork.beside_threads", fork_beside_threads, 0},
    {"fork.zombies", zombies, 20},
    {"vfork._exit", vforks, 0},
    {"vfork.exec", vforks, 1},
    {"spawn", spawns, 0},
    {"shells", shells, 0},
    {"exec.chain4", exec_chain, 4},
    {"exec.chain3", exec_chain, 3},
    {"exec.chain2", exec_chain, 2},
    {"exec.chain1", exec_chain, 1},
    {"exec.end", exec_end, 26},
    {"exec.script", exec_script, 0},
    {"exec.without_environment", exec_without_environment, 0},
    {"exec.long_arguments", exec_long_arguments, 100000},
    {"exec.of_a_thread", exec_of_a_thread, 0},
    {"exec.of_nothing", exec_nothing, 0},
    {"daemon", daemons, 0},
    {"daemon.closes_all", daemons, 1},
    {"wait.no_other_child", no_other_child, 0},
    {"wait.reaper", reaper, 0},
    {"wait.ignored", ignores_children, 0},
    {"parent_death_signal", dies_with_parent, 0},
    {"ptrace", traces, 0},
    {"groups", groups, 0},
};
HOST_CASES(kProcessCases, rows);
