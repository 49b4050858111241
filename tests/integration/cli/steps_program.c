// steps_program STEPS [NAME [DOMAIN]]: STEPS ranges NAME ("step") in NVTX's default domain or in one of its own, as a
// training script would push them; a # at the end of NAME is the number of the range.
#include <nvtx3/nvToolsExt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile uint64_t sink;

static void push(nvtxDomainHandle_t domain, const char* name, int number) {
  char text[64];
  const char* end = strchr(name, '#');
  if (end != NULL) {
    snprintf(text, sizeof text, "%.*s%d", (int)(end - name), name, number);
    name = text;
  }
  if (domain == NULL) {
    nvtxRangePushA(name);
    return;
  }
  nvtxEventAttributes_t attributes = {0};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name;
  nvtxDomainRangePushEx(domain, &attributes);
}

static void pop(nvtxDomainHandle_t domain) {
  if (domain == NULL) {
    nvtxRangePop();
  } else {
    nvtxDomainRangePop(domain);
  }
}

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 0;
  const char* name = argc > 2 ? argv[2] : "step";
  const nvtxDomainHandle_t domain = argc > 3 ? nvtxDomainCreateA(argv[3]) : NULL;
  for (int i = 0; i < steps; ++i) {
    push(domain, name, i);
    for (uint64_t k = 0; k < 100000; ++k)
      sink += k;
    pop(domain);
  }
  return 0;
}
