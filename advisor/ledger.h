// Predictions that were written down before the measurement, and how they turned out: a JSON file, schema
// "swinscope.ledger/1", one entry for each prediction, in the order in which they were made.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advisor/advice.h"
#include "analyzer/table/table.h"

namespace swinscope {

struct Prediction {
  std::string label;                                     // what it is a prediction of: "swin_base batch 32, graph"
  std::string made;                                      // when: UTC, ISO 8601
  std::string run;                                       // from which trace
  std::string gpu;                                       // whose it is; "" where the trace does not say
  std::vector<std::string> applied;                      // ids of the changes
  std::int64_t step_ns = 0;                              // of the trace, replayed as it is
  std::array<std::int64_t, 3> predicted_ns = {0, 0, 0};  // least, likely, longest step
};

struct Ledger {
  std::vector<Prediction> predictions;

  // Throws Error(kInput) for a text that is none; source: what messages call it.
  static Ledger parse(std::string_view text, const std::string& source);
  std::string text() const;
};

// The joint simulation of the advice. Throws Error(kUsage) where nothing was applied.
Prediction predict(const RunFacts& run, const Advice& advice, const std::string& label, const std::string& made);

// Each prediction beside what was measured: effect error = (predicted - measured) / measured.
Table score_table(const Ledger& ledger, std::int64_t measured_step_ns);

}  // namespace swinscope
