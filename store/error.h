// The error that every part of swinscope reports: what went wrong and where, why, and what to do next.
#pragma once

#include <stdexcept>
#include <string>

namespace swinscope {

// Exit status of a program that ends with the error (docs: INTERFACE "Exit").
enum class ErrorKind : int {
  kFailure = 1,        // the operation failed (disk, permissions, a bug)
  kUsage = 2,          // the command line is wrong
  kInput = 3,          // an input is unreadable, corrupt or newer than this program
  kInterrupted = 130,  // the user stopped it
};

// `what()` is one line naming the object ("file.db: not a trace"); `cause` and `hint` are further lines, may be empty.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& what, std::string cause = {}, std::string hint = {});

  ErrorKind kind() const { return kind_; }
  const std::string& cause() const { return cause_; }
  const std::string& hint() const { return hint_; }

 private:
  ErrorKind kind_;
  std::string cause_;
  std::string hint_;
};

}  // namespace swinscope
