#include "analyzer/trace/kernel_operation.h"

#include <algorithm>

#include "analyzer/trace/kernel_rules.h"
#include "analyzer/trace/kernel_words.h"

namespace swinscope {

OperationKind kernel_operation(std::string_view name) {
  const KernelWords words = kernel_words(name);
  const auto holds = [](const Words& part, std::string_view pattern) { return pattern.empty() || part.match(pattern); };
  const std::span<const KernelRule> rules = kernel_rules();
  const auto found = std::ranges::find_if(rules, [&](const KernelRule& rule) {
    return holds(words.base, rule.base) && holds(words.scope, rule.scope) && holds(words.arguments, rule.arguments);
  });
  return found == rules.end() ? OperationKind::kUnknown : found->kind;
}

bool is_fill_kernel(std::string_view name) {
  constexpr std::string_view kFill = "fill|fillfunctor|fillkernel|zerokernel|memset*";
  const KernelWords words = kernel_words(name);
  return words.base.match(kFill) || (words.base.match("elementwise") && words.arguments.match("fill|fillfunctor"));
}

}  // namespace swinscope
