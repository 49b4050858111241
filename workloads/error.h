// The error that the workloads report: what went wrong and where, why, and what to do next.
#pragma once

#include <stdexcept>
#include <string>

namespace swinscope {

// Exit status of `swin` when it ends with the error.
enum class WorkloadErrorKind : int {
  kFailure = 1,  // the operation failed (disk, network, another rank died, a bug)
  kUsage = 2,    // the command line, the environment or a model name is wrong
  kInput = 3,    // an input file is unreadable or corrupt
};

// `what()` is one line naming the object; `cause` and `hint` are further lines and may be empty.
class WorkloadError : public std::runtime_error {
 public:
  WorkloadError(WorkloadErrorKind kind, const std::string& what, std::string cause = {}, std::string hint = {});

  WorkloadErrorKind kind() const { return kind_; }
  const std::string& cause() const { return cause_; }
  const std::string& hint() const { return hint_; }

 private:
  WorkloadErrorKind kind_;
  std::string cause_;
  std::string hint_;
};

// "error: ...", "  cause: ...", "  hint: ..." as every program of swinscope prints it, ending in a newline.
std::string format_error(const WorkloadError& error);

}  // namespace swinscope
