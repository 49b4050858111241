// Which part of a run figures are of: METRICS "One scope". Every analysis takes one, every command and page offers it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace swinscope {

enum class Scope : std::uint8_t {
  kSteps,  // the measured steps: all after the warm-up, within recorded windows; the whole trace where there are none
  kTrace,  // everything that was recorded
};

// Steps as a person counts them, from 1, both ends included, those of the warm-up among them.
struct StepRange {
  std::int64_t first = 1;
  std::int64_t last = 1;
  bool operator==(const StepRange&) const = default;
};

struct Selection {
  Scope scope = Scope::kSteps;
  std::optional<std::int32_t> rank;
  std::optional<std::int32_t> device;
  std::optional<std::uint64_t> stream;
  std::optional<StepRange> steps;  // instead of the measured ones
  std::string name;                // regular expression that an event's name holds; empty: any
  // How steps are found: by ranges whose name this regular expression matches; empty: by what is known of programs.
  std::string step_name;
  bool by_launches =
      false;  // by launches of a CUDA graph, else by the period of the kernels, whatever ranges there are
  std::optional<std::int64_t> warmup_steps;  // nothing: those of the experiment that the run belongs to, else none
  bool operator==(const Selection&) const = default;
};

// "3:5", or "4" for one step. Throws Error(kUsage) for what is no range.
StepRange parse_steps(const std::string& text);

}  // namespace swinscope
