// Differences of steps (work_difference.h) as tables and sentences, for runs beside each other and for the points of a
// scaling experiment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "analyzer/experiment/normalization.h"
#include "analyzer/experiment/work_difference.h"
#include "analyzer/table/table.h"

namespace swinscope {

struct NamedDifference {
  std::string name;       // of the run or point; "run" or "point" is its column
  std::string base_name;  // what its base step is called: "ideal step, of 1 GPU"
  const WorkDifference* work = nullptr;
  std::int64_t base_ns = 0;  // the steps that the parts lead from and to
  std::int64_t step_ns = 0;
  std::optional<std::int64_t> distortion_ns = std::nullopt;  // where these are timed and the parts are traced
};

// ": 0.700 ms kernels slowed beside communication (gemm, 0.310 ms), …": the parts that explain `whole_ns`, the largest
// first; empty where there are none.
std::string parts_text(const WorkDifference& work, std::int64_t whole_ns, const Measure& measure = {});

// For each of them the base step, the parts, and the step, which they sum to.
Table waterfall_table(std::string key, std::string title, const std::string& column,
                      std::span<const NamedDifference> differences, const Measure& measure = {});

// The kernels, copies and sets, or the layers, whose time changed most: the `top` ones of each; 0: all.
Table changes_table(std::string key, std::string title, const std::string& column,
                    std::span<const NamedDifference> differences, ChangeGrouping grouping, std::size_t top,
                    const Measure& measure = {});

}  // namespace swinscope
