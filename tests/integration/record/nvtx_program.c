/* A program of somebody else: everything that NVTX offers, from four threads and a second client library. Prints
 * nothing, exits with 42. The test knows the ranges below by heart. */
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 4, STEPS = 25, LAYERS = 3 };

typedef struct {
  uint64_t flops;
  uint32_t kind;
  float ratio;
  int64_t shape[3];
  char device[8];
  const char* note;
} Work;

static nvtxDomainHandle_t domain;
static nvtxStringHandle_t step_name;
static uint64_t work_schema;
static nvtxRangeId_t crossing;

static void register_work(void) {
  const nvtxPayloadEnum_t kinds[] = {{"gemm", 1, 0}, {"norm", 2, 0}};
  nvtxPayloadEnumAttr_t kind_attributes = {0};
  kind_attributes.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                              NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
  kind_attributes.entries = kinds;
  kind_attributes.numEntries = 2;
  kind_attributes.sizeOfEnum = sizeof(uint32_t);
  const uint64_t kind = nvtxPayloadEnumRegister(domain, &kind_attributes);
  const nvtxPayloadSchemaEntry_t entries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "flops", NULL, 0, offsetof(Work, flops), NULL, NULL},
      {0, kind, "kind", NULL, 0, offsetof(Work, kind), NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "ratio", NULL, 0, offsetof(Work, ratio), NULL, NULL},
      {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "shape", NULL, 3, offsetof(Work, shape),
       NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "device", NULL, 8, offsetof(Work, device), NULL, NULL},
      {NVTX_PAYLOAD_ENTRY_FLAG_POINTER | NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "note",
       NULL, 0, offsetof(Work, note), NULL, NULL},
  };
  nvtxPayloadSchemaAttr_t attributes = {0};
  attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  attributes.name = "work";
  attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  attributes.flags = NVTX_PAYLOAD_SCHEMA_FLAG_DEEP_COPY;
  attributes.entries = entries;
  attributes.numEntries = sizeof(entries) / sizeof(entries[0]);
  attributes.payloadStaticSize = sizeof(Work);
  work_schema = nvtxPayloadSchemaRegister(domain, &attributes);
}

static nvtxEventAttributes_t named(const char* name) {
  nvtxEventAttributes_t attributes = {0};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name;
  return attributes;
}

static void layer(int thread, int step, int i) {
  char name[32];
  char note[32];
  snprintf(name, sizeof(name), "layer%d", i);
  snprintf(note, sizeof(note), "t%d s%d", thread, step);
  Work work = {1000U * (uint64_t)(i + 1), 1U + (uint32_t)(i % 2), 0.25F, {thread, step, i}, "cpu", note};
  nvtxPayloadData_t data = {work_schema, sizeof(work), &work};
  nvtxEventAttributes_t attributes = named(name);
  attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  attributes.reserved0 = 1;
  attributes.payload.ullValue = (uint64_t)(uintptr_t)&data;
  nvtxDomainRangePushEx(domain, &attributes);
  nvtxRangePushA("kernel");
  nvtxRangePop();
  nvtxDomainRangePop(domain);
  memset(note, '!', sizeof(note) - 1); /* what was to be copied has been */
}

static void* work(void* argument) {
  const int thread = (int)(intptr_t)argument;
  char name[32];
  snprintf(name, sizeof(name), "worker %d", thread);
  nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), name);
  for (int step = 0; step < STEPS; ++step) {
    nvtxEventAttributes_t attributes = named(NULL);
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = step_name;
    attributes.category = 5;
    attributes.colorType = NVTX_COLOR_ARGB;
    attributes.color = 0xFF00FF00;
    attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    attributes.payload.llValue = -step;
    nvtxDomainRangePushEx(domain, &attributes);
    for (int i = 0; i < LAYERS; ++i)
      layer(thread, step, i);
    nvtxDomainRangePop(domain);
  }
  if (thread == 0)
    crossing = nvtxDomainRangeStartEx(domain, &(nvtxEventAttributes_t){.version = NVTX_VERSION,
                                                                       .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
                                                                       .messageType = NVTX_MESSAGE_TYPE_UNICODE,
                                                                       .message.unicode = L"cr\u00F6ssing"});
  return NULL;
}

int main(int argc, char** argv) {
  domain = nvtxDomainCreateA("foreign");
  step_name = nvtxDomainRegisterStringW(domain, L"st\u00E9p");
  nvtxDomainNameCategoryA(domain, 5, "steps");
  register_work();
  pthread_t threads[THREADS];
  for (intptr_t i = 0; i < THREADS; ++i)
    pthread_create(&threads[i], NULL, work, (void*)i);
  for (int i = 0; i < THREADS; ++i)
    pthread_join(threads[i], NULL);
  nvtxDomainRangeEnd(domain, crossing);
  nvtxMarkA("done");
  if (argc > 1) {
    void* library = dlopen(argv[1], RTLD_NOW);
    void (*emit)(void) = library == NULL ? NULL : (void (*)(void))dlsym(library, "emit_from_library");
    if (emit == NULL) return 1;
    emit();
  }
  return 42;
}
