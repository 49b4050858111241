// What the program tells its user beside its results.
#pragma once

#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace swinscope {

// On stderr, formatted as by fmt::format. What cannot be written there (a full disk below a log, a closed stream) is
// gone: it ends no training.
template <typename... Values>
void say(fmt::format_string<Values...> text, Values&&... values) noexcept {
  try {
    std::fputs(fmt::format(text, std::forward<Values>(values)...).c_str(), stderr);
  } catch (const std::exception&) {
    return;  // no memory for the line
  }
}

}  // namespace swinscope
