/* faulty_program KIND N once|ever: everything of NVTX, while the Nth call of a kind (fault_library) fails within it.
 * What the program prints and returns must not depend on that. */
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((weak)) void faults_enter(void);
__attribute__((weak)) void faults_leave(void);
__attribute__((weak)) void faults_set(const char* kind, int number, int all);

#define NVTX(call)                            \
  do {                                        \
    if (faults_enter != NULL) faults_enter(); \
    call;                                     \
    if (faults_leave != NULL) faults_leave(); \
  } while (0)

static void* work(void* unused) {
  (void)unused;
  for (int i = 0; i < 20; ++i)
    NVTX(nvtxRangePushA("thread"); nvtxRangePop());
  return NULL;
}

static void register_and_use(void) {
  nvtxDomainHandle_t domain = NULL;
  nvtxStringHandle_t name = NULL;
  NVTX(domain = nvtxDomainCreateA("domain"); name = nvtxDomainRegisterStringA(domain, "registered"));
  NVTX(nvtxNameCategoryA(3, "category"); nvtxNameOsThreadA((uint32_t)getpid(), "main"));
  nvtxEventAttributes_t attributes = {0};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = name;
  NVTX(nvtxDomainRangePushEx(domain, &attributes); nvtxDomainRangePop(domain));
  const nvtxPayloadSchemaEntry_t entries[] = {{0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "n", NULL, 0, 0, NULL, NULL},
                                              {0, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "x", NULL, 0, 8, NULL, NULL}};
  nvtxPayloadSchemaAttr_t schema = {0};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries;
  schema.numEntries = 2;
  schema.payloadStaticSize = 16;
  uint64_t id = 0;
  NVTX(id = nvtxPayloadSchemaRegister(domain, &schema));
  const uint64_t values[2] = {1, 2};
  const nvtxPayloadData_t data = {id, sizeof(values), values};
  NVTX(nvtxMarkPayload(domain, &data, 1));
}

int main(int argc, char** argv) {
  if (argc < 4) return 64;
  if (faults_set != NULL) faults_set(argv[1], atoi(argv[2]), strcmp(argv[3], "ever") == 0);
  NVTX(nvtxRangePushA("main"));
  register_and_use();
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, NULL) != 0) return 1;
  pthread_join(thread, NULL);
  const pid_t child = fork();
  if (child == 0) {
    NVTX(nvtxRangePushA("child"); nvtxRangePop());
    _exit(5);
  }
  int status = 0;
  waitpid(child, &status, 0);
  NVTX(nvtxRangePop());
  printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  fflush(stdout);
  if (faults_enter != NULL) faults_enter(); /* to the very end */
  return 42;
}
