// Names of run folders with parts that differ between recorders, as Nsight Systems has them: `record -o run-%h-%p`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace swinscope::cli {

// What the parts stand for.
struct PatternValues {
  std::string host;                                                        // %h
  std::int64_t pid = 0;                                                    // %p: of `swinscope record`
  std::optional<std::int32_t> rank;                                        // %r: as the launcher's variables say
  std::function<std::optional<std::string>(const std::string&)> variable;  // %q{NAME}; nothing when it is not set
};

// Of this process.
PatternValues pattern_values();

// The pattern with %q{NAME}, %h, %p and %r replaced and %% as a percent. Throws Error (kUsage) for a variable that is
// not set, a rank that nobody says, and any other %.
std::string fill_pattern(const std::string& pattern, const PatternValues& values);

}  // namespace swinscope::cli
