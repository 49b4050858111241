#include "workloads/shared_module.h"

#include <filesystem>
#include <system_error>

#include <dlfcn.h>
#include <fmt/format.h>

#include "workloads/error.h"

namespace swinscope {

SharedModule::SharedModule(const std::string& file, const std::string& purpose, const std::string& hint) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* relative : {"../lib/swinscope", "../lib"}) {
    const std::filesystem::path candidate = folder / relative / file;
    if (path_.empty() && std::filesystem::exists(candidate, error)) path_ = candidate.string();
  }
  if (path_.empty()) {
    throw WorkloadError(WorkloadErrorKind::kFailure, fmt::format("{} was not found", file), purpose, hint);
  }
  handle_ = ::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) {
    throw WorkloadError(WorkloadErrorKind::kFailure, fmt::format("{}: cannot be opened", path_), ::dlerror(), hint);
  }
}

void* SharedModule::find_symbol(const char* symbol) const {
  void* const found = ::dlsym(handle_, symbol);
  if (found == nullptr) {
    throw WorkloadError(WorkloadErrorKind::kFailure, fmt::format("{}: cannot be used", path_), ::dlerror(),
                        "install the program and its modules from one build");
  }
  return found;
}

}  // namespace swinscope
