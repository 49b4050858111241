// The check of an operation's preconditions (shapes, required pointers), which throws std::invalid_argument with the
// operation's name.
#pragma once

#include <stdexcept>
#include <string>

namespace swinscope {

// Throws std::invalid_argument("<operation>: <what>"). For the preconditions of an operation that depend on
// its caller only, checked once per call.
inline void require(bool holds, const char* operation, const char* what) {
  if (!holds) throw std::invalid_argument(std::string(operation) + ": " + what);
}

}  // namespace swinscope
