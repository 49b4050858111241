// The entry points of the injected library: with those of NCCL (nccl_plugin.h) all that it exports
// (collector/exports.map).
//
// The CUDA driver calls InitializeInjection of the library in CUDA_INJECTION64_PATH at the first CUDA call of a
// process. NVTX calls the other two of the library in NVTX_INJECTION64_PATH, once for each client library of the
// process and for each extension that the client uses.
#include "collector/base/collector_settings.h"
#include "collector/injected/loading.h"
#include "collector/injected/nvtx_callbacks.h"
#include "collector/injected/session.h"

namespace {

bool wants_nvtx() noexcept {
  try {
    return !swinscope::can_throw() || swinscope::CollectorSettings::from_environment().trace.nvtx;
  } catch (...) {
    return true;  // no memory to ask
  }
}

}  // namespace

#define SWINSCOPE_EXPORT __attribute__((visibility("default")))

extern "C" {

SWINSCOPE_EXPORT int InitializeInjection(void);
SWINSCOPE_EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table);
SWINSCOPE_EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module);

int InitializeInjection(void) {
  if (swinscope::ensure_session()) swinscope::begin_cuda();
  swinscope::loading_ends();
  return 1;
}

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table) {
  swinscope::session_is_loading();
  if (get_export_table == nullptr || !wants_nvtx() || !swinscope::ensure_session()) return 0;
  return swinscope::hook_nvtx(get_export_table) ? 1 : 0;
}

int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  if (module == nullptr || !wants_nvtx() || !swinscope::ensure_session()) return 0;
  return swinscope::hook_nvtx_extension(*module) ? 1 : 0;
}

}  // extern "C"
