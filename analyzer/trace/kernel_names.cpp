#include "analyzer/trace/kernel_names.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "analyzer/trace/kernel_operation.h"

namespace swinscope {
namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

struct CopyKindName {
  CopyKind kind;
  std::string_view name;
};

// CUPTI's copy kinds by the abbreviations that the PyTorch profiler prints, with Nsight Systems' word for migrations.
// Those that contain others stand first.
constexpr std::array<CopyKindName, 13> kCopyKinds = {{{CopyKind::kUnifiedHostToDevice, "Unified HtoD"},
                                                      {CopyKind::kUnifiedDeviceToHost, "Unified DtoH"},
                                                      {CopyKind::kUnifiedDeviceToDevice, "Unified DtoD"},
                                                      {CopyKind::kHostToDevice, "HtoD"},
                                                      {CopyKind::kDeviceToHost, "DtoH"},
                                                      {CopyKind::kHostToArray, "HtoA"},
                                                      {CopyKind::kArrayToHost, "AtoH"},
                                                      {CopyKind::kArrayToArray, "AtoA"},
                                                      {CopyKind::kArrayToDevice, "AtoD"},
                                                      {CopyKind::kDeviceToArray, "DtoA"},
                                                      {CopyKind::kDeviceToDevice, "DtoD"},
                                                      {CopyKind::kHostToHost, "HtoH"},
                                                      {CopyKind::kPeerToPeer, "PtoP"}}};

struct MemoryKindName {
  MemoryKind kind;
  std::string_view name;
};

// Of AMD's tracers, which do not say what kind of memory of the host it is; beyond the numbers that Nsight Systems
// uses.
constexpr MemoryKind kHostMemory{64};

constexpr std::array<MemoryKindName, 9> kMemoryKinds = {{{kHostMemory, "Host"},
                                                         {MemoryKind::kPageable, "Pageable"},
                                                         {MemoryKind::kPinned, "Pinned"},
                                                         {MemoryKind::kDevice, "Device"},
                                                         {MemoryKind::kArray, "Array"},
                                                         {MemoryKind::kManaged, "Managed"},
                                                         {MemoryKind::kDeviceStatic, "Device Static"},
                                                         {MemoryKind::kManagedStatic, "Managed Static"},
                                                         {MemoryKind::kUnknown, "Unknown"}}};

std::string_view memory_kind_name(MemoryKind kind) {
  const auto* const found = std::find_if(kMemoryKinds.begin(), kMemoryKinds.end(),
                                         [&](const MemoryKindName& entry) { return entry.kind == kind; });
  return found == kMemoryKinds.end() ? "Unknown" : found->name;
}

MemoryKind memory_kind(std::string_view name) {
  const auto* const found = std::find_if(kMemoryKinds.begin(), kMemoryKinds.end(),
                                         [&](const MemoryKindName& entry) { return entry.name == name; });
  return found == kMemoryKinds.end() ? MemoryKind::kUnknown : found->kind;
}

constexpr std::array<std::string_view, 17> kOperationNames = {
    "gemm",      "attention", "conv",          "norm", "softmax/loss", "elementwise", "layout", "reduce", "resample",
    "optimizer", "embedding", "communication", "copy", "set",          "graph",       "other",  "unknown"};

// Whether a word within the arguments of a generic kernel's template says what that applies.
bool tells_what_is_applied(std::string_view word) {
  // Wrappers that say nothing of the operation inside.
  constexpr std::array<std::string_view, 10> kGeneric = {"BinaryFunctor",
                                                         "AUnaryFunctor",
                                                         "BUnaryFunctor",
                                                         "UnaryOpFunctor",
                                                         "BinaryOpListAlphaFunctor",
                                                         "BinaryOpScalarFunctor",
                                                         "gpu_kernel_impl",
                                                         "gpu_kernel_impl_nocast",
                                                         "func_wrapper_t",
                                                         "ReduceOp"};
  constexpr std::array<std::string_view, 9> kEndings = {
      "Functor", "_kernel_cuda", "_kernel_impl", "KernelImpl", "_functor", "_cuda_out", "_cuda_", "Ops", "_kernel"};
  constexpr std::array<std::string_view, 2> kBeginnings = {"CUDAFunctor",
                                                           "launch_"};  // CUDAFunctor_add, launch_clamp_scalar
  constexpr std::array<std::string_view, 4> kOfStd = {"plus", "minus", "multiplies", "divides"};
  const auto is_word = [&](std::string_view other) { return word == other; };
  if (std::ranges::any_of(kGeneric, is_word)) return false;
  return std::ranges::any_of(kOfStd, is_word) ||
         std::ranges::any_of(kBeginnings, [&](std::string_view beginning) { return word.starts_with(beginning); }) ||
         std::ranges::any_of(kEndings,
                             [&](std::string_view ending) { return word != ending && word.ends_with(ending); });
}

bool is_identifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// From the beginning of a path such as "cutlass::gemm::kernel::GemmUniversal<…": its last name, with the one before it
// where that name says no more than that it is a kernel. Empty for numbers and the language's own types.
std::string_view last_of_path(std::string_view path) {
  constexpr std::array<std::string_view, 18> kOwn = {"true",   "false", "int",   "unsigned",      "long",   "short",
                                                     "char",   "bool",  "float", "double",        "__half", "half",
                                                     "signed", "void",  "auto",  "__nv_bfloat16", "const",  "std"};
  constexpr std::string_view kUnnamed = "(anonymous namespace)";
  std::size_t begin = 0, before = 0, end = 0;
  while (end < path.size()) {
    if (path.substr(end).starts_with(kUnnamed)) {
      end += kUnnamed.size();
    } else if (is_identifier(path[end])) {
      before = begin;
      begin = end;
      while (end < path.size() && is_identifier(path[end]))
        ++end;
    } else {
      break;
    }
    if (!path.substr(end).starts_with("::")) break;
    end += 2;
  }
  const std::string_view last = path.substr(begin, end - begin);
  if (last.empty() || std::isdigit(static_cast<unsigned char>(last.front())) != 0 ||
      last.find(':') != std::string_view::npos)
    return {};
  if (std::ranges::find(kOwn, last) != kOwn.end()) return {};
  return last.ends_with("Kernel") || last.ends_with("kernel") ? path.substr(before, end - before) : last;
}

// Kernels that are called no more than a kernel: what the first argument of their template that is a name says, else
// where they stand.
std::string_view carried_by(std::string_view demangled, std::string_view base) {
  constexpr std::array<std::string_view, 12> kCalledKernel = {
      "kentry",       "kernel",       "Kernel",        "kernel2",        "Kernel2",       "device_kernel",
      "kernel_entry", "kernel_agent", "_kernel_agent", "generic_kernel", "global_kernel", "static_kernel"};
  if (std::ranges::find(kCalledKernel, base) == kCalledKernel.end()) return {};
  for (std::size_t at = demangled.find(base); at != std::string_view::npos; at = demangled.find(base, at + 1)) {
    const std::string_view behind = demangled.substr(at + base.size());
    const bool is_part =
        (at > 0 && is_identifier(demangled[at - 1])) || (!behind.empty() && is_identifier(behind.front()));
    if (is_part || behind.starts_with("::")) continue;  // of a longer word, or a namespace
    // The first one that is neither a number nor of the language's own types.
    for (std::size_t begin = behind.starts_with("<") ? 1 : behind.size(); begin < behind.size();) {
      while (begin < behind.size() && behind[begin] == ' ')
        ++begin;
      const std::string_view argument = behind.substr(begin);
      if (const std::string_view carried = last_of_path(argument); !carried.empty()) return carried;
      const std::size_t end = argument.find_first_of(",<>(");
      if (end == std::string_view::npos || argument[end] != ',') break;
      begin += end + 1;
    }
    std::string_view scope = demangled.substr(0, at);
    if (!scope.ends_with("::")) return {};
    scope.remove_suffix(2);
    std::size_t begin = scope.size();
    while (begin > 0 && is_identifier(scope[begin - 1]))
      --begin;
    return scope.substr(begin);
  }
  return {};
}

// What a generic kernel applies; empty for all others, and where its name does not tell.
std::string_view applied_by(std::string_view demangled, std::string_view base) {
  if (const std::string_view carried = carried_by(demangled, base); !carried.empty()) return carried;
  constexpr std::array<std::string_view, 3> kCarriers = {"elementwise_kernel", "reduce_kernel",
                                                         "multi_tensor_apply_kernel"};
  if (std::ranges::none_of(kCarriers, [&](std::string_view name) { return contains(base, name); })) return {};
  for (std::size_t i = demangled.find('<'); i < demangled.size();) {
    if (!is_identifier(demangled[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < demangled.size() && is_identifier(demangled[end]))
      ++end;
    const std::string_view word = demangled.substr(i, end - i);
    i = end;
    if (word != base && tells_what_is_applied(word)) return word;
  }
  return {};
}

}  // namespace

std::string readable_kernel_name(std::string_view demangled) {
  std::string base = short_kernel_name(demangled);
  const std::string_view applied = applied_by(demangled, base);
  return applied.empty() ? base : fmt::format("{} [{}]", base, applied);
}

std::string brief_kernel_name(std::string_view demangled) {
  std::string base = short_kernel_name(demangled);
  const std::string_view applied = applied_by(demangled, base);
  return applied.empty() ? base : std::string(applied);
}

std::string event_name(const Trace& trace, const Rank& rank, EventIndex event, NameStyle style) {
  const StringId name = rank.gpu.name[event];
  if (style == NameStyle::kMangled) return std::string(trace.text(rank.mangled_name(name)));
  const bool is_short = style == NameStyle::kShort && rank.gpu.kind[event] == GpuKind::kKernel;
  return is_short ? readable_kernel_name(trace.text(name)) : std::string(trace.text(name));
}

std::string copy_name(CopyKind kind, MemoryKind src, MemoryKind dst) {
  const auto* const found =
      std::find_if(kCopyKinds.begin(), kCopyKinds.end(), [&](const CopyKindName& entry) { return entry.kind == kind; });
  const std::string kind_name = found != kCopyKinds.end()    ? std::string(found->name)
                                : kind == CopyKind::kUnknown ? "Unknown"
                                                             : fmt::format("kind {}", static_cast<std::int32_t>(kind));
  // Of the pages of unified memory most sources say no more.
  const bool is_unified = kind >= CopyKind::kUnifiedHostToDevice && kind <= CopyKind::kUnifiedDeviceToDevice;
  if (is_unified && src == MemoryKind::kUnknown && dst == src) return fmt::format("Memcpy {}", kind_name);
  return fmt::format("Memcpy {} ({} -> {})", kind_name, memory_kind_name(src), memory_kind_name(dst));
}

std::string set_name(MemoryKind kind) { return fmt::format("Memset ({})", memory_kind_name(kind)); }

CopyNameParts parse_copy_name(std::string_view name) {
  CopyNameParts parts;
  const auto* const named = std::find_if(kCopyKinds.begin(), kCopyKinds.end(),
                                         [&](const CopyKindName& entry) { return contains(name, entry.name); });
  if (named != kCopyKinds.end()) parts.kind = named->kind;
  const std::size_t open = name.find('(');
  const std::size_t arrow = name.find(" -> ");
  const std::size_t close = name.rfind(')');
  if (open == std::string_view::npos || arrow == std::string_view::npos || close == std::string_view::npos ||
      arrow < open || close < arrow) {
    return parts;
  }
  parts.src = memory_kind(name.substr(open + 1, arrow - open - 1));
  parts.dst = memory_kind(name.substr(arrow + 4, close - arrow - 4));
  return parts;
}

MemoryKind parse_set_name(std::string_view name) {
  const std::size_t open = name.find('(');
  const std::size_t close = name.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return MemoryKind::kUnknown;
  return memory_kind(name.substr(open + 1, close - open - 1));
}

OperationKind operation_kind(GpuKind kind, std::string_view name) {
  switch (kind) {
    case GpuKind::kMemcpy:
      return OperationKind::kCopy;
    case GpuKind::kMemset:
      return OperationKind::kSet;
    case GpuKind::kGraph:
      return OperationKind::kGraph;
    case GpuKind::kKernel:
      break;
  }
  return kernel_operation(name);
}

std::string_view operation_name(OperationKind kind) { return kOperationNames[static_cast<std::size_t>(kind)]; }

GpuClass class_of(OperationKind operation) {
  switch (operation) {
    case OperationKind::kCommunication:
      return GpuClass::kCommunication;
    case OperationKind::kCopy:
    case OperationKind::kSet:
      return GpuClass::kMemory;
    case OperationKind::kGraph:
    case OperationKind::kUnknown:
      return GpuClass::kUnknown;
    default:
      return GpuClass::kCompute;
  }
}

std::string_view class_name(GpuClass gpu_class) {
  switch (gpu_class) {
    case GpuClass::kCompute:
      return "compute";
    case GpuClass::kCommunication:
      return "communication";
    case GpuClass::kMemory:
      return "memory";
    case GpuClass::kUnknown:
      return "unknown";
  }
  return "";
}

}  // namespace swinscope
