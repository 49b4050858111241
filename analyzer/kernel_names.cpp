#include "analyzer/kernel_names.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

namespace swinscope {
namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

struct CopyKindName {
  CopyKind kind;
  std::string_view name;
};

// CUPTI's copy kinds by the abbreviations that the PyTorch profiler prints.
constexpr std::array<CopyKindName, 5> kCopyKinds = {{{CopyKind::kHostToDevice, "HtoD"},
                                                     {CopyKind::kDeviceToHost, "DtoH"},
                                                     {CopyKind::kDeviceToDevice, "DtoD"},
                                                     {CopyKind::kHostToHost, "HtoH"},
                                                     {CopyKind::kPeerToPeer, "PtoP"}}};

struct MemoryKindName {
  MemoryKind kind;
  std::string_view name;
};

constexpr std::array<MemoryKindName, 8> kMemoryKinds = {{{MemoryKind::kPageable, "Pageable"},
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

struct Pattern {
  std::string_view part;  // in lower case
  OperationKind kind;
};

// The first pattern that the lower-case name contains decides, so the more specific ones stand first: an optimizer is
// made of elementwise kernels, a convolution's layout change is named after the convolution, an attention contains
// matrix products.
constexpr std::array kPatterns = {
    Pattern{"adam", OperationKind::kOptimizer},
    Pattern{"multi_tensor", OperationKind::kOptimizer},
    Pattern{"sgd", OperationKind::kOptimizer},
    Pattern{"nchwtonhwc", OperationKind::kLayout},
    Pattern{"nhwctonchw", OperationKind::kLayout},
    Pattern{"flash", OperationKind::kAttention},
    Pattern{"fmha", OperationKind::kAttention},
    Pattern{"attention", OperationKind::kAttention},
    Pattern{"attn", OperationKind::kAttention},
    Pattern{"sdpa", OperationKind::kAttention},
    Pattern{"implicit_gemm", OperationKind::kConv},
    Pattern{"convert", OperationKind::kElementwise},
    Pattern{"conv", OperationKind::kConv},
    Pattern{"wgrad", OperationKind::kConv},
    Pattern{"dgrad", OperationKind::kConv},
    Pattern{"fprop", OperationKind::kConv},
    Pattern{"splitkreduce", OperationKind::kReduce},
    Pattern{"gemm", OperationKind::kGemm},
    Pattern{"gemv", OperationKind::kGemm},
    Pattern{"nvjet", OperationKind::kGemm},
    Pattern{"cublas", OperationKind::kGemm},
    Pattern{"cutlass", OperationKind::kGemm},
    Pattern{"wgmma", OperationKind::kGemm},
    Pattern{"matmul", OperationKind::kGemm},
    Pattern{"xmma", OperationKind::kGemm},
    Pattern{"upsample", OperationKind::kResample},
    Pattern{"resize", OperationKind::kResample},
    Pattern{"interpolate", OperationKind::kResample},
    Pattern{"pool", OperationKind::kResample},
    Pattern{"layer_norm", OperationKind::kNorm},
    Pattern{"layernorm", OperationKind::kNorm},
    Pattern{"batch_norm", OperationKind::kNorm},
    Pattern{"batchnorm", OperationKind::kNorm},
    Pattern{"bn_fw", OperationKind::kNorm},
    Pattern{"bn_bw", OperationKind::kNorm},
    Pattern{"gammabeta", OperationKind::kNorm},
    Pattern{"rmsnorm", OperationKind::kNorm},
    Pattern{"norm", OperationKind::kNorm},
    Pattern{"softmax", OperationKind::kSoftmaxLoss},
    Pattern{"nll", OperationKind::kSoftmaxLoss},
    Pattern{"cross_entropy", OperationKind::kSoftmaxLoss},
    Pattern{"reduce", OperationKind::kReduce},
    Pattern{"copy", OperationKind::kLayout},
    Pattern{"catarray", OperationKind::kLayout},
    Pattern{"concat", OperationKind::kLayout},
    Pattern{"transpose", OperationKind::kLayout},
    Pattern{"permute", OperationKind::kLayout},
    Pattern{"roll_cuda", OperationKind::kLayout},
    Pattern{"gather", OperationKind::kLayout},
    Pattern{"scatter", OperationKind::kLayout},
    Pattern{"index_", OperationKind::kLayout},
    Pattern{"indexing", OperationKind::kLayout},
    Pattern{"im2col", OperationKind::kLayout},
    Pattern{"col2im", OperationKind::kLayout},
    Pattern{"elementwise", OperationKind::kElementwise},
    Pattern{"pointwise", OperationKind::kElementwise},
    Pattern{"fill", OperationKind::kElementwise},
    Pattern{"gelu", OperationKind::kElementwise},
    Pattern{"relu", OperationKind::kElementwise},
    Pattern{"dropout", OperationKind::kElementwise},
    Pattern{"triton_poi", OperationKind::kElementwise},
    Pattern{"triton_red", OperationKind::kReduce},
    Pattern{"triton_per", OperationKind::kReduce},
};

constexpr std::array<std::string_view, 15> kOperationNames = {
    "gemm",     "attention", "conv",          "norm", "softmax/loss", "elementwise", "layout", "reduce",
    "resample", "optimizer", "communication", "copy", "set",          "graph",       "unknown"};

}  // namespace

std::string readable_kernel_name(std::string_view demangled) {
  // Wrappers that say nothing of the operation inside.
  constexpr std::array<std::string_view, 9> kGeneric = {
      "BinaryFunctor",   "AUnaryFunctor",          "BUnaryFunctor",  "UnaryOpFunctor", "BinaryOpListAlphaFunctor",
      "gpu_kernel_impl", "gpu_kernel_impl_nocast", "func_wrapper_t", "ReduceOp"};
  constexpr std::array<std::string_view, 8> kEndings = {"Functor",  "_kernel_cuda", "_kernel_impl", "KernelImpl",
                                                        "_functor", "_cuda_out",    "Ops",          "_kernel"};
  std::string base = short_kernel_name(demangled);
  constexpr std::array<std::string_view, 3> kCarriers = {"elementwise_kernel", "reduce_kernel",
                                                         "multi_tensor_apply_kernel"};
  if (std::none_of(kCarriers.begin(), kCarriers.end(), [&](std::string_view name) { return contains(base, name); }))
    return base;
  const auto is_identifier = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
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
    const bool generic = word == base || std::find(kGeneric.begin(), kGeneric.end(), word) != kGeneric.end();
    const bool telling = std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) {
      return word.size() > ending.size() && word.substr(word.size() - ending.size()) == ending;
    });
    if (telling && !generic) return fmt::format("{} [{}]", base, word);
  }
  return base;
}

std::string copy_name(CopyKind kind, MemoryKind src, MemoryKind dst) {
  const auto* const found =
      std::find_if(kCopyKinds.begin(), kCopyKinds.end(), [&](const CopyKindName& entry) { return entry.kind == kind; });
  const std::string_view kind_name = found == kCopyKinds.end() ? "Unknown" : found->name;
  return fmt::format("Memcpy {} ({} -> {})", kind_name, memory_kind_name(src), memory_kind_name(dst));
}

std::string set_name(MemoryKind kind) { return fmt::format("Memset ({})", memory_kind_name(kind)); }

CopyNameParts parse_copy_name(std::string_view name) {
  CopyNameParts parts;
  for (const CopyKindName& entry : kCopyKinds) {
    if (contains(name, entry.name)) parts.kind = entry.kind;
  }
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

bool is_communication_kernel(std::string_view name) {
  return name.substr(0, 4) == "nccl" || contains(name, "ncclKernel") || contains(name, "ncclDevKernel") ||
         contains(name, "nvshmem") || contains(name, "one_shot_all_reduce") || contains(name, "two_shot_all_reduce");
}

bool is_peer_copy(std::string_view name) { return name.starts_with("Memcpy PtoP"); }

bool is_host_copy(std::string_view name) {
  constexpr std::string_view kPrefix = "Memcpy ";
  if (!name.starts_with(kPrefix)) return false;
  const std::string_view kind = name.substr(kPrefix.size(), name.find(' ', kPrefix.size()) - kPrefix.size());
  return kind == "HtoD" || kind == "DtoH" || kind == "HtoA" || kind == "AtoH";
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
  if (is_communication_kernel(name)) return OperationKind::kCommunication;
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto* const found = std::find_if(kPatterns.begin(), kPatterns.end(),
                                         [&](const Pattern& pattern) { return contains(lower, pattern.part); });
  return found == kPatterns.end() ? OperationKind::kUnknown : found->kind;
}

std::string_view operation_name(OperationKind kind) { return kOperationNames[static_cast<std::size_t>(kind)]; }

GpuClass class_of(OperationKind operation, std::string_view name) {
  switch (operation) {
    case OperationKind::kCommunication:
      return GpuClass::kCommunication;
    case OperationKind::kCopy:
      return is_peer_copy(name) ? GpuClass::kCommunication : GpuClass::kMemory;
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
