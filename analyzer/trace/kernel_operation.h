// What a kernel does, told by its name alone.
#pragma once

#include <string_view>

#include "analyzer/trace/trace.h"

namespace swinscope {

// kUnknown where no rule knows the name.
OperationKind kernel_operation(std::string_view name);

// Whether the kernel sets its output to one value: the same in whatever operation it is a part of.
bool is_fill_kernel(std::string_view name);

}  // namespace swinscope
