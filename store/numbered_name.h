// Names of ranges that carry numbers of their own, so that each name is another. PyTorch's emit_nvtx writes
//   aten::mul, seq = 45328, op_id = 990726, sizes = [[8, 96], []], input_op_ids = [(990725,0), (0,0)]
// (torch/csrc/profiler/util.cpp, getNvtxStr; some versions write `stashed seq`, and leave parts out). Kept apart, the
// numbers are those that a profiler's trace has of the same operator, and equal operators have equal names.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "store/records.h"
#include "store/sink.h"
#include "store/torch_domain.h"

namespace swinscope {

struct NumberedName {
  std::string_view name;
  std::optional<std::int64_t> sequence;  // of the autograd graph: forward and backward of an operator share it
  std::optional<std::int64_t> operation;
  std::string_view sizes;  // of the inputs, as a JSON array of arrays; empty where they are not there or cut off

  // Operators have a sequence number or a name like aten::mul; what a program marks itself has neither: its names have
  // blanks or capitals before the "::" ("FSDP::pre_forward (layer.1)").
  bool is_operator() const;
};

// Nothing where the name is not of that form, to its end. `X, seq = 5` alone is such a name only where X looks like an
// operator: other programs count in such words, too.
std::optional<NumberedName> split_numbered_name(std::string_view text);

// Puts the numbers where importers put those of a profiler's trace: the sequence number is the range's value, the
// operation its range id, the sizes are `input_dims` of its JSON text, and operators of NVTX's default domain move to
// PyTorch's. Says whether the record belongs to that domain now, whose number is kNumberedDomain. Numbers for which the
// record has another value already are dropped; so are the ids of the inputs.
inline constexpr std::uint32_t kNumberedDomain = 0x7FFF'0001;
bool take_numbers(const NumberedName& from, RecordSink& sink, NvtxRecord& record);

}  // namespace swinscope
