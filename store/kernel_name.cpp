#include "store/kernel_name.h"

namespace swinscope {
namespace {

// Index behind the matching '>' of the '<' at `open`, or npos.
std::size_t skip_template_arguments(std::string_view name, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>' && i > 0 && name[i - 1] != '-' && --depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

}  // namespace

std::string short_kernel_name(std::string_view demangled) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  std::string base;
  std::size_t i = 0;
  while (i < demangled.size()) {
    const char c = demangled[i];
    if (demangled.substr(i, kAnonymous.size()) == kAnonymous) {
      i += kAnonymous.size();
    } else if (c == '(') {
      break;  // the parameters
    } else if (c == '<') {
      const std::size_t end = skip_template_arguments(demangled, i);
      if (end == std::string_view::npos) break;
      i = end;
    } else if (c == ' ' || c == ':') {
      // What stood before was a return type or a namespace, unless only a suffix such as " [clone .kd]" follows.
      if (c == ' ' && i + 1 < demangled.size() && demangled[i + 1] == '[') break;
      base.clear();
      ++i;
    } else {
      base += c;
      ++i;
    }
  }
  return base.empty() ? std::string(demangled) : base;
}

}  // namespace swinscope
