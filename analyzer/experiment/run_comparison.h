// Independent runs beside each other: what each was, how fast its steps were, and what bounds it.
//
// images/s, GPU busy and what a run is bound by are those of key_figures.h and verdict.h, each run's own scope. Runs
// are compared by images/s where all of them say how many images a step takes, else by the length of their steps.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/facts/selection.h"
#include "analyzer/table/render.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

struct ComparedRun {
  std::string name;                  // as the reader knows it
  std::vector<std::string> command;  // empty: not recorded
  std::int64_t steps = 0;
  std::optional<std::int64_t> step_ns;
  std::optional<double> images_per_second;
  std::optional<double> gpu_busy;  // 0..1
  std::string bound;               // empty: not judged
  std::vector<std::string> warnings;
  bool corrupt = false;
};

ComparedRun compared_run(const Trace& trace, const std::string& name, const Selection& selection);

enum class RunOrder : std::uint8_t {
  kFastestFirst,  // speed is over the slowest
  kAsGiven,       // speed is over the first
};
// There must be a run. Unlike work is said before any ratio.
Document runs_document(std::vector<ComparedRun> runs, RunOrder order);

}  // namespace swinscope
