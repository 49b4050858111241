/* Limits: what a program forbids itself, or is forbidden. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/integration/record/host_case.h"

static void limit(int what, rlim_t value) {
  const struct rlimit both = {value, value};
  printf("limit: %d\n", setrlimit((__rlimit_resource_t)what, &both));
}

static int before(int what, rlim_t value) {
  limit(what, value);
  ranges(1000);
  return 60;
}
static int no_descriptors(int late) {
  if (late) ranges(10);
  before(RLIMIT_NOFILE, 3);
  printf("open: %d\n", open("/dev/null", O_RDONLY | O_CLOEXEC) < 0 ? errno : 0);
  return 61;
}
static int address_space(int late) {
  if (late) ranges(10);
  limit(RLIMIT_AS, (rlim_t)64 << 20U);
  ranges(1000);
  printf("8 MiB: %d, 1 GiB: %d\n", malloc((size_t)8 << 20U) != NULL, malloc((size_t)1 << 30U) != NULL);
  return 62;
}
static int file_size(int bytes) {
  signal(SIGXFSZ, SIG_IGN);
  limit(RLIMIT_FSIZE, (rlim_t)bytes);
  const int file = open("own", O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  ranges(1000);
  for (int i = 0; i < 3; ++i)
    printf("write: %d\n", (int)write(file, "0123456789", 10));
  return 63;
}
static int file_size_kills(int unused) {
  (void)unused;
  limit(RLIMIT_FSIZE, 0);
  ranges(1000);
  const int file = open("own", O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  return write(file, "0", 1) == 1 ? 90 : 91;
}
static int no_processes(int unused) {
  (void)unused;
  limit(RLIMIT_NPROC, 0);
  printf("user: %d\n", setuid(65534));
  ranges(1000);
  printf("fork: %d\n", fork() < 0);
  return 64;
}
static int small_stack(int kib) {
  const struct rlimit small = {(rlim_t)kib << 10U, (rlim_t)kib << 10U};
  setrlimit(RLIMIT_STACK, &small);
  ranges(5);
  become_case("exec.end");
  return 90;
}
static int cpu_time(int unused) {
  (void)unused;
  limit(RLIMIT_CPU, 1);
  for (;;)
    works_a_while();
}
static int data_segment(int unused) {
  (void)unused;
  limit(RLIMIT_DATA, (rlim_t)16 << 20U);
  ranges(1000);
  printf("1 MiB: %d\n", malloc((size_t)1 << 20U) != NULL);
  return 65;
}
static int locked(int flags) {
  printf("locked: %d\n", mlockall(flags));
  ranges(1000);
  return 66;
}

static int with_filter(unsigned number, unsigned action) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, action),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {4, filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}
static int forbids(int number) {
  ranges(10);
  printf("filter: %d\n", with_filter((unsigned)number, SECCOMP_RET_KILL_PROCESS));
  ranges(1000);
  return 67;
}
static int refuses_first(int number) {
  printf("filter: %d\n", with_filter((unsigned)number, SECCOMP_RET_ERRNO | EPERM));
  ranges(1000);
  return 68;
}

/* Of a kind that this user may not make the program says so, alone as well. */
static int own_namespace(int kind) {
  ranges(10);
  printf("unshare: %s\n", unshare(kind) == 0 ? "ok" : strerror(errno));
  ranges(10);
  const pid_t child = fork();
  if (child == 0) {
    ranges(10);
    _exit(5);
  }
  printf("child: %d\n", status_of(child));
  return 69;
}
static int own_namespace_first(int kind) {
  printf("unshare: %s\n", unshare(kind) == 0 ? "ok" : strerror(errno));
  return own_namespace(kind);
}

static int own_root(int late) {
  if (late) ranges(10);
  mkdir("root", 0700);
  printf("root: %s\n", chroot("root") == 0 && chdir("/") == 0 ? "ok" : strerror(errno));
  ranges(1000);
  return 70;
}
static int other_user(int late) {
  if (late) ranges(10);
  printf("user: %s\n", setgid(65534) == 0 && setuid(65534) == 0 ? "ok" : strerror(errno));
  ranges(1000);
  printf("dumpable: %d\n", prctl(PR_GET_DUMPABLE, 0, 0, 0, 0));
  return 71;
}
static int not_dumpable(int unused) {
  (void)unused;
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  ranges(1000);
  printf("dumpable: %d\n", prctl(PR_GET_DUMPABLE, 0, 0, 0, 0));
  return 72;
}
static int fixed_addresses(int unused) {
  (void)unused;
  if (personality(ADDR_NO_RANDOMIZE) < 0) puts("not permitted");
  ranges(5);
  become_case("exec.end");
  return 90;
}

static const struct host_case rows[] = {
    {"limit.descriptors", no_descriptors, 0},
    {"limit.descriptors_late", no_descriptors, 1},
    {"limit.address_space", address_space, 0},
    {"limit.address_space_late", address_space, 1},
    {"limit.file_size", file_size, 15},
    {"limit.file_size_0", file_size, 0},
    {"limit.file_size_kills", file_size_kills, 0},
    {"limit.processes", no_processes, 0},
    {"limit.stack", small_stack, 256},
    {"limit.cpu_time", cpu_time, 0},
    {"limit.data", data_segment, 0},
    {"mlockall.current", locked, MCL_CURRENT},
    {"mlockall.future", locked, MCL_CURRENT | MCL_FUTURE},
    {"seccomp.kills_openat", forbids, SYS_openat},
    {"seccomp.kills_mmap", forbids, SYS_mmap},
    {"seccomp.kills_pwrite", forbids, SYS_pwrite64},
    {"seccomp.kills_clone", forbids, SYS_clone},
    {"seccomp.refuses_openat_first", refuses_first, SYS_openat},
    {"seccomp.refuses_mmap_first", refuses_first, SYS_mmap},
    {"seccomp.refuses_ftruncate_first", refuses_first, SYS_ftruncate},
    {"namespace.user", own_namespace, CLONE_NEWUSER},
    {"namespace.user_first", own_namespace_first, CLONE_NEWUSER},
    {"namespace.pid", own_namespace, CLONE_NEWPID},
    {"namespace.mount", own_namespace, CLONE_NEWNS},
    {"namespace.ipc", own_namespace, CLONE_NEWIPC},
    {"namespace.net", own_namespace, CLONE_NEWNET},
    {"chroot", own_root, 1},
    {"chroot.first", own_root, 0},
    {"setuid", other_user, 1},
    {"setuid.first", other_user, 0},
    {"not_dumpable", not_dumpable, 0},
    {"fixed_addresses", fixed_addresses, 0},
};
HOST_CASES(kLimitCases, rows);
