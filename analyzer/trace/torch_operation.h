// What an operation of PyTorch does, told by its name: "aten::addmm", "flash_attn::_flash_attn_forward".
#pragma once

#include <string_view>

#include "analyzer/trace/trace.h"

namespace swinscope {

// Of the operations whose kernels all belong to one kind; kUnknown for those that are made of others
// ("vllm::moe_forward") and that are not known. What emit_nvtx writes behind a name (", seq = 45") does not count.
OperationKind torch_operation(std::string_view name);

}  // namespace swinscope
