/* nvtx_hosts MODE [N]: programs whose lives a recorder can easily disturb. Each prints what it found out about its own
 * life, which is the same with and without a recorder. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static void ranges(long count) {
  for (long i = 0; i < count; ++i) {
    nvtxRangePushA("r");
    nvtxRangePop();
  }
}

static void* some_ranges(void* count) {
  ranges((long)(intptr_t)count);
  return NULL;
}

static int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* main leaves, a thread goes on and is the last. */
static int leave_by_pthread_exit(void) {
  pthread_t thread;
  ranges(10);
  pthread_create(&thread, NULL, some_ranges, (void*)(intptr_t)100);
  pthread_exit(NULL);
}

/* From here on only what the program needs itself: no file, no memory map, no thread. */
static int seccomp(void) {
  ranges(10);
  const int wanted[] = {SYS_write, SYS_exit_group, SYS_fstat, SYS_brk};
  struct sock_filter filter[16];
  unsigned n = 0;
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (unsigned i = 0; i < 4; ++i) {
    filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)wanted[i], 0, 1);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  const struct sock_fprog program = {(unsigned short)n, filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) return 3;
  ranges(20);
  puts("alive");
  return 11;
}

static int unshare_user(void) {
  ranges(30);
  printf("unshare: %d\n", unshare(CLONE_NEWUSER) == 0 ? 0 : errno);
  return 12;
}

/* Closes all descriptors and uses the numbers for files of its own. */
static int close_all(const char* folder) {
  ranges(100);
  for (int i = 3; i < 256; ++i)
    close(i);
  int files[8];
  char path[4096];
  for (int i = 0; i < 8; ++i) {
    snprintf(path, sizeof(path), "%s/own%d", folder, i);
    files[i] = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
  }
  printf("first: %d\n", files[0]);
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 8; ++i)
      dprintf(files[i], "%d\n", i);
    ranges(1000);
    usleep(10000);
  }
  int damaged = 0;
  for (int i = 0; i < 8; ++i) {
    char text[256] = "";
    const ssize_t got = pread(files[i], text, sizeof(text), 0);
    damaged += got != 40 || text[0] != '0' + i;
  }
  printf("damaged: %d\n", damaged);
  return 13;
}

/* Workers of every kind of birth and death; each makes ten ranges and ends at once. */
static int workers(int count) {
  ranges(10);
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    const pid_t child = i % 2 == 0 ? fork() : (pid_t)syscall(SYS_fork);
    if (child == 0) {
      ranges(10);
      if (i % 3 == 0) _exit(7);
      if (i % 3 == 1) kill(getpid(), SIGKILL);
      syscall(SYS_exit_group, 7);
    }
    const int status = status_of(child);
    wrong += status != (i % 3 == 1 ? 128 + SIGKILL : 7);
  }
  printf("wrong: %d\n", wrong);
  return 14;
}

static int exec_chain(const char* self, int left) {
  char count[16];
  ranges(5);
  if (left == 0) return 15;
  snprintf(count, sizeof(count), "%d", left - 1);
  execl(self, self, "exec", count, (char*)NULL);
  return 1;
}

static int cleared_environment(void) {
  ranges(10);
  clearenv();
  const pid_t child = fork();
  if (child == 0) {
    ranges(1000);
    exit(6);
  }
  printf("child: %d\n", status_of(child));
  return 16;
}

/* Threads that come and go, one at a time. */
static int short_threads(int count) {
  for (int i = 0; i < count; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, some_ranges, (void*)(intptr_t)20) != 0) return 1;
    pthread_join(thread, NULL);
  }
  return 17;
}

/* A child that is forked while another thread makes the first call ever. */
static int fork_beside_first_call(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, some_ranges, (void*)(intptr_t)10);
  usleep((useconds_t)(getpid() % 16) * 100);
  const pid_t child = fork();
  if (child == 0) {
    ranges(5);
    _exit(4);
  }
  printf("child: %d\n", status_of(child));
  pthread_join(thread, NULL);
  return 18;
}

static sigjmp_buf target;
static void jump(int signal) {
  (void)signal;
  siglongjmp(target, 1);
}

/* A handler that leaves whatever it interrupts, callbacks of the recorder too; then a hundred ranges in peace. */
static int jumps(void) {
  volatile int count = 0;
  ranges(1);
  signal(SIGALRM, jump);
  const struct itimerval often = {{0, 300}, {0, 300}};
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  if (sigsetjmp(target, 1) != 0) ++count;
  while (count < 300)
    ranges(10);
  setitimer(ITIMER_REAL, &never, NULL);
  signal(SIGALRM, SIG_IGN);
  for (int i = 0; i < 100; ++i) {
    nvtxRangePushA("in peace");
    nvtxRangePop();
  }
  return 19;
}

/* A schema whose pointer lies beyond what the program then gives. */
static int pointer_beyond(void) {
  const nvtxPayloadSchemaEntry_t entries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "n", NULL, 0, 0, NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "far", NULL, 0, (uint64_t)1 << 40, NULL, NULL},
  };
  nvtxPayloadSchemaAttr_t attributes = {0};
  attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  attributes.entries = entries;
  attributes.numEntries = 2;
  attributes.payloadStaticSize = 16;
  nvtxDomainHandle_t domain = nvtxDomainCreateA("d");
  const uint64_t schema = nvtxPayloadSchemaRegister(domain, &attributes);
  const uint64_t values[2] = {1, 2};
  const nvtxPayloadData_t data = {schema, sizeof(values), values};
  nvtxMarkPayload(domain, &data, 1);
  ranges(3);
  return 20;
}

/* No file may be made at all. */
static int no_files(void) {
  const struct rlimit none = {0, 0};
  setrlimit(RLIMIT_FSIZE, &none);
  ranges(50);
  return 21;
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  const char* argument = argc > 2 ? argv[2] : "";
  setvbuf(stdout, NULL, _IONBF, 0);
  if (strcmp(mode, "pthread_exit") == 0) return leave_by_pthread_exit();
  if (strcmp(mode, "seccomp") == 0) return seccomp();
  if (strcmp(mode, "unshare") == 0) return unshare_user();
  if (strcmp(mode, "closeall") == 0) return close_all(argument);
  if (strcmp(mode, "workers") == 0) return workers(atoi(argument));
  if (strcmp(mode, "exec") == 0) return exec_chain(argv[0], atoi(argument));
  if (strcmp(mode, "clearenv") == 0) return cleared_environment();
  if (strcmp(mode, "threads") == 0) return short_threads(atoi(argument));
  if (strcmp(mode, "forkfirst") == 0) return fork_beside_first_call();
  if (strcmp(mode, "jumps") == 0) return jumps();
  if (strcmp(mode, "beyond") == 0) return pointer_beyond();
  if (strcmp(mode, "nofiles") == 0) return no_files();
  return 64;
}
