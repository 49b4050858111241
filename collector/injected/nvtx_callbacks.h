// The functions that stand behind NVTX's API in a program under recording.
#pragma once

#include <nvtx3/nvToolsExtPayload.h>

namespace swinscope {

// Puts our functions into the tables of one client library (each shared library with NVTX has its own). Functions that
// the client's version of NVTX does not have yet are left out. False when the client offers no tables.
bool hook_nvtx(NvtxGetExportTableFunc_t get_export_table) noexcept;

// The same for the payload extension. False for other extensions.
bool hook_nvtx_extension(nvtxExtModuleInfo_t& module) noexcept;

}  // namespace swinscope
