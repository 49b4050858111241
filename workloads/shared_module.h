// Parts of the program that need a library which may be absent: each is a module of its own, opened when it is wanted.
#pragma once

#include <string>

namespace swinscope {

class SharedModule {
 public:
  // `file`: beside the program in the build tree (../lib) or where it is installed (../lib/swinscope). Throws
  // WorkloadError (kFailure) when it is not there, saying what is missing (`purpose`) and what to do (`hint`), or when
  // it cannot be opened. A module stays loaded until the process ends: its code may be on the stack of a library's
  // threads.
  SharedModule(const std::string& file, const std::string& purpose, const std::string& hint);

  template <typename Function>
  Function find(const char* symbol) const {
    return reinterpret_cast<Function>(find_symbol(symbol));
  }

 private:
  void* find_symbol(const char* symbol) const;

  std::string path_;
  void* handle_ = nullptr;
};

}  // namespace swinscope
