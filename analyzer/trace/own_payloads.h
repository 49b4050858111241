// What the JSON text of a range says: our own workloads' swinscope.operation/1 and swinscope.step/1, and the shapes of
// the inputs of PyTorch's operators.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analyzer/trace/trace.h"

namespace swinscope {

struct OperationPayload {
  std::string operation;
  std::string precision;
  std::int64_t flops = 0;
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
  bool has_cost = true;                       // that FLOPs and bytes are known
  using Shape = std::array<std::int64_t, 4>;  // the outermost dimension first, 0 behind the last; all 0: not known
  Shape input_shape = {};
  Shape output_shape = {};
  std::int64_t channels = 0;  // of an image that each filter of a convolution reads; 0: not known
};

// Payloads are interned strings, few of them distinct: each is parsed once.
class OperationPayloads {
 public:
  explicit OperationPayloads(const Trace& trace) : trace_(trace) {}

  // Nothing for a payload of another kind. The reference stays good.
  const std::optional<OperationPayload>& operation(StringId json);

 private:
  const Trace& trace_;
  std::unordered_map<StringId, std::optional<OperationPayload>> known_;
};

// The images that a step's payload names; nothing for a payload of another kind.
std::optional<std::int64_t> images_of_step(std::string_view json);

// The shapes of an operator's inputs, as written: "[[8, 96], []]"; empty where they were not recorded.
class InputDims {
 public:
  explicit InputDims(const Trace& trace) : trace_(trace) {}

  // The reference stays good.
  const std::string& of(StringId json);

 private:
  const Trace& trace_;
  std::unordered_map<StringId, std::string> known_;
};

}  // namespace swinscope
