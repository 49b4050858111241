// What PyTorch's operators compute, by the shapes and types of their inputs where the profiler recorded them
// (record_shapes=True).
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/trace/own_payloads.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

class TorchCosts {
 public:
  explicit TorchCosts(const Trace& trace) : trace_(trace) {}

  // Of an operator that is a matrix product or a convolution, and calls no other that is one: its FLOPs, bytes (each
  // input and the result once), precision and shapes, as rows x inner dimension and rows x columns, batches before
  // these. Of a convolution's forward pass whose stride was not recorded the shapes are those of stride 1, and the cost
  // counts as not known, as it does without the inputs' types. nullptr: it is no product, or its shapes were not
  // recorded. Pointers stay good.
  const OperationPayload* product(StringId name, StringId json);

  // "fp32", "fp16", "bf16" or "fp64": of the first input of floating point; "": not recorded, or none is.
  std::string_view precision(StringId json);

 private:
  struct Inputs {
    std::vector<std::vector<std::int64_t>> dims;
    std::vector<std::vector<std::int64_t>> values;  // of arguments that are lists of integers; else empty
    std::string_view precision;
  };
  const Inputs& inputs_of(StringId json);

  const Trace& trace_;
  std::unordered_map<StringId, Inputs> inputs_;
  std::unordered_map<std::uint64_t, const OperationPayload*> products_;  // by name and inputs
  std::deque<OperationPayload> payloads_;
};

}  // namespace swinscope
