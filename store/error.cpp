#include "store/error.h"

#include <utility>

namespace swinscope {

Error::Error(ErrorKind kind, const std::string& what, std::string cause, std::string hint)
    : std::runtime_error(what), kind_(kind), cause_(std::move(cause)), hint_(std::move(hint)) {}

}  // namespace swinscope
