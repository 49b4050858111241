#include "workloads/error.h"

#include <utility>

namespace swinscope {

WorkloadError::WorkloadError(WorkloadErrorKind kind, const std::string& what, std::string cause, std::string hint)
    : std::runtime_error(what), kind_(kind), cause_(std::move(cause)), hint_(std::move(hint)) {}

std::string format_error(const WorkloadError& error) {
  std::string text = std::string("error: ") + error.what() + "\n";
  if (!error.cause().empty()) text += "  cause: " + error.cause() + "\n";
  if (!error.hint().empty()) text += "  hint: " + error.hint() + "\n";
  return text;
}

}  // namespace swinscope
