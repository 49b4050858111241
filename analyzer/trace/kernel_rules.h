// What kernels' names mean, as rules over their words. A rule is a row: adding one is adding a row and a name to
// tests/unit/analyzer/kernel_operation_names.h.
#pragma once

#include <span>
#include <string_view>

#include "analyzer/trace/trace.h"

namespace swinscope {

// A rule holds when all its patterns (Words::match) do; one that is empty always does.
struct KernelRule {
  std::string_view base;
  std::string_view scope;
  std::string_view arguments;
  OperationKind kind;
};

// In the order in which they are asked: the first that holds decides. Helpers and fusions with a name of their own
// stand before the operation that they are part of.
std::span<const KernelRule> kernel_rules();

}  // namespace swinscope
