#include "cli/output_pattern.h"

#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>

#include "collector/base/identity.h"
#include "store/error.h"

namespace swinscope::cli {
namespace {

constexpr const char* kParts =
    "%q{NAME} is a variable of the environment, %h the host, %p the process id, %r the rank, %% a percent";

[[noreturn]] void refuse_pattern(const std::string& pattern, const std::string& cause,
                                 const std::string& hint = kParts) {
  throw Error(ErrorKind::kUsage, fmt::format("-o {}: the name cannot be filled in", pattern), cause, hint);
}

// `at` is behind the q; afterwards behind the closing brace.
std::string variable_at(const std::string& pattern, std::size_t& at, const PatternValues& values) {
  const std::size_t close = pattern.find('}', at);
  if (at >= pattern.size() || pattern[at] != '{' || close == std::string::npos || close == at + 1)
    refuse_pattern(pattern, "%q needs the name of a variable in braces");
  const std::string name = pattern.substr(at + 1, close - at - 1);
  const std::optional<std::string> value = values.variable(name);
  if (!value) {
    refuse_pattern(pattern, fmt::format("the variable {} is not set", name),
                   fmt::format("set {}, or name the folder otherwise: {}", name, kParts));
  }
  at = close + 1;
  return *value;
}

}  // namespace

PatternValues pattern_values() {
  PatternValues values;
  values.host = host_name();
  values.pid = getpid();
  if (const RankIdentity identity = rank_from_environment(); identity.is_given) values.rank = identity.rank;
  values.variable = [](const std::string& name) {
    const char* const value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  return values;
}

std::string fill_pattern(const std::string& pattern, const PatternValues& values) {
  std::string filled;
  for (std::size_t at = 0; at < pattern.size();) {
    if (pattern[at] != '%') {
      filled += pattern[at++];
      continue;
    }
    const char part = at + 1 < pattern.size() ? pattern[at + 1] : '\0';
    at += 2;
    switch (part) {
      case '%':
        filled += '%';
        break;
      case 'h':
        filled += values.host;
        break;
      case 'p':
        filled += std::to_string(values.pid);
        break;
      case 'r':
        if (!values.rank) {
          refuse_pattern(pattern, "%r is the rank, and no launcher says one",
                         "start `swinscope record` below torchrun, mpirun, srun or `swinscope launch`, or set RANK");
        }
        filled += std::to_string(*values.rank);
        break;
      case 'q':
        filled += variable_at(pattern, at, values);
        break;
      default:
        refuse_pattern(pattern, part == '\0' ? "a % stands at its end" : fmt::format("%{} is not known", part));
    }
  }
  if (filled.empty()) refuse_pattern(pattern, "nothing is left of it: its variables are empty");
  return filled;
}

}  // namespace swinscope::cli
