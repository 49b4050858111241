/* A second client of NVTX in one process, with its own copy of NVTX's tables; it uses the program's domain by name. */
#include <nvtx3/nvToolsExt.h>

void emit_from_library(void);
void emit_from_library(void) {
  nvtxEventAttributes_t attributes = {0};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = "from the library";
  nvtxDomainRangePushEx(nvtxDomainCreateA("foreign"), &attributes);
  nvtxDomainRangePop(nvtxDomainCreateA("foreign"));
}
