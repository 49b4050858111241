// What users say of kernels that the rules do not know, or that they see otherwise: --class and --operation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/base/name_pattern.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

// Of the rules that match a name (the full one, as `kernels --names full` shows it) the first one given holds.
struct ClassRules {
  template <typename Kind>
  struct Rule {
    NamePattern pattern;
    Kind kind;
  };
  std::vector<Rule<GpuClass>> classes;
  std::vector<Rule<OperationKind>> operations;

  bool empty() const { return classes.empty() && operations.empty(); }

  // "REGEX=communication", compute or memory; and "REGEX=gemm" or another operation. Throws Error(kUsage) when it is
  // not of this form.
  void add_class(const std::string& text);
  void add_operation(const std::string& text);
};

}  // namespace swinscope
