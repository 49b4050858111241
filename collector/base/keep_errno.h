// Calls of ours within a program's own must not change what the program finds in errno.
#pragma once

#include <cerrno>

namespace swinscope {

class KeepErrno {
 public:
  KeepErrno() = default;
  KeepErrno(const KeepErrno&) = delete;
  KeepErrno& operator=(const KeepErrno&) = delete;
  KeepErrno(KeepErrno&&) = delete;
  KeepErrno& operator=(KeepErrno&&) = delete;
  ~KeepErrno() { errno = before_; }

 private:
  int before_ = errno;
};

}  // namespace swinscope
