#include "analyzer/trace/class_rules.h"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyzer/trace/kernel_names.h"
#include "store/error.h"

namespace swinscope {
namespace {

using enum OperationKind;

constexpr std::array kClasses = {GpuClass::kCommunication, GpuClass::kCompute, GpuClass::kMemory};
// Those that a kernel can do.
constexpr std::array kOperations = {kGemm,        kAttention,     kConv,   kNorm,     kSoftmaxLoss,
                                    kElementwise, kLayout,        kReduce, kResample, kOptimizer,
                                    kEmbedding,   kCommunication, kCopy,   kSet,      kOther};

// A regular expression may have a "=" itself: the last one separates.
template <typename Kind, typename Kinds, typename Name>
ClassRules::Rule<Kind> parse(std::string_view option, const std::string& text, const Kinds& kinds, Name name) {
  const std::size_t equal = text.rfind('=');
  const std::string kind = equal == std::string::npos ? "" : text.substr(equal + 1);
  for (const Kind candidate : kinds) {
    if (name(candidate) == kind && equal > 0) return {NamePattern(option, text.substr(0, equal)), candidate};
  }
  std::vector<std::string_view> names;
  names.reserve(kinds.size());
  for (const Kind candidate : kinds)
    names.push_back(name(candidate));
  const std::string cause = equal == std::string::npos ? "there is no = in it"
                            : equal == 0               ? "there is no regular expression before the ="
                                         : fmt::format("'{}' is none of {}", kind, fmt::join(names, ", "));
  throw Error(ErrorKind::kUsage, fmt::format("{} {}: not a rule", option, text), cause,
              fmt::format("write REGEX=KIND, such as {} '^my_kernel={}'", option, names.front()));
}

}  // namespace

void ClassRules::add_class(const std::string& text) {
  classes.push_back(parse<GpuClass>("--class", text, kClasses, class_name));
}

void ClassRules::add_operation(const std::string& text) {
  operations.push_back(parse<OperationKind>("--operation", text, kOperations, operation_name));
}

}  // namespace swinscope
