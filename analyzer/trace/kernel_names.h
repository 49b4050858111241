// What the name of a GPU event tells: a short form for people, the class for the time breakdown, and the kind of
// operation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/trace/trace.h"
#include "store/kernel_name.h"

namespace swinscope {

// The base name, and for the frameworks' generic kernels what they apply: "elementwise_kernel [MulFunctor]"; for those
// that are called a kernel and no more, what they carry: "device_kernel [GemmUniversal]", "kernel [gemvx]".
std::string readable_kernel_name(std::string_view demangled);
// Where names stand in a row: "MulFunctor", and the base name of all other kernels.
std::string brief_kernel_name(std::string_view demangled);

// How names of kernels are shown: as readable_kernel_name(), as they are, or as the compiler made them.
enum class NameStyle : std::uint8_t { kShort, kFull, kMangled };

// The name of a GPU event; of copies and sets it has one style. A mangled name that was not recorded is the full one.
std::string event_name(const Trace& trace, const Rank& rank, EventIndex event, NameStyle style = NameStyle::kShort);

// The name shown for a copy or a set, the same whatever recorded it: "Memcpy HtoD (Pinned -> Device)".
std::string copy_name(CopyKind kind, MemoryKind src, MemoryKind dst);
std::string set_name(MemoryKind kind);

// Reverse of copy_name for importers that have only the name; unknown parts stay unknown.
struct CopyNameParts {
  CopyKind kind = CopyKind::kUnknown;
  MemoryKind src = MemoryKind::kUnknown;
  MemoryKind dst = MemoryKind::kUnknown;
};
CopyNameParts parse_copy_name(std::string_view name);
MemoryKind parse_set_name(std::string_view name);

// What a GPU event does, inferred from its name; kUnknown where the name says nothing. Communication kernels are known
// by the names of NCCL, old ("ncclKernel_AllReduce_…", "ncclAllReduceRingLLKernel_…") and new
// ("ncclDevKernel_AllReduce_…"), and of the other communication libraries.
OperationKind operation_kind(GpuKind kind, std::string_view name);
std::string_view operation_name(OperationKind kind);
constexpr bool is_math(OperationKind kind) {
  return kind == OperationKind::kGemm || kind == OperationKind::kAttention || kind == OperationKind::kConv;
}

// The class of an event of that operation; of copies, of those within a GPU or with the host.
GpuClass class_of(OperationKind operation);
std::string_view class_name(GpuClass gpu_class);

}  // namespace swinscope
