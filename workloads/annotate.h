// NVTX annotations in the domain "swinscope": what runs, by layer path, and what it must at least do. Any NVTX tool
// reads them (swinscope record, Nsight Systems); with no tool attached a range costs one comparison.
//
// Ranges nest on each thread as
//   step                                    payload swinscope.step/1
//     data | forward | backward | allreduce | optimizer
//       stage3.block5.attn.qkv              payload swinscope.operation/1
// Stages and blocks count from 1. A path names the same operation in the forward and in the backward phase. Category
// and payload give the operation's class, so that an analysis needs no guessing by names.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/cost.h"

struct nvtxStringRegistration_st;

namespace swinscope {

enum class Precision : std::uint32_t { kFp64 = 1, kFp32, kTf32, kFp16, kBf16, kFp8, kInt8 };

enum class OperationClass : std::uint32_t {
  kGemm = 1,
  kAttention,
  kNorm,
  kElementwise,
  kLayout,
  kConv,
  kLoss,
  kOptimizer,
  kCommunication,
  kOther,
};

inline constexpr std::size_t kShapeExtents = 4;
// Unused trailing extents are 0.
using ShapeExtents = std::array<std::int64_t, kShapeExtents>;

// The binary layout of swinscope.operation/1; the schema registered with the tool describes it field by field.
struct OperationPayload {
  std::uint64_t flops = 0;       // 2 per multiply-add of matrix products and convolutions
  std::uint64_t bytes_read = 0;  // compulsory traffic: each operand once
  std::uint64_t bytes_written = 0;
  Precision precision = Precision::kFp32;
  OperationClass operation_class = OperationClass::kOther;
  ShapeExtents input_shape = {};
  ShapeExtents output_shape = {};
};

// The binary layout of swinscope.step/1.
struct StepPayload {
  std::uint64_t step = 0;    // from 0, warm-up included
  std::uint64_t images = 0;  // of this rank
};

// Whether a tool listens. Decided once, at the first annotation of the process.
bool annotations_enabled();

// A name registered with the tool once, so that a range passes a handle and no text.
class RangeName {
 public:
  explicit RangeName(std::string path);

  const std::string& path() const { return path_; }
  nvtxStringRegistration_st* handle() const { return handle_; }

 private:
  std::string path_;
  nvtxStringRegistration_st* handle_ = nullptr;
};

// An operation with fixed shapes: its name and the payloads of its two directions.
struct Operation {
  RangeName name;
  OperationPayload forward;
  OperationPayload backward;
};

OperationPayload make_payload(const OperationCost& cost, OperationClass operation_class, Precision precision,
                              const ShapeExtents& input_shape, const ShapeExtents& output_shape);

template <typename T>
constexpr Precision precision_of() {
  return sizeof(T) == sizeof(double) ? Precision::kFp64 : Precision::kFp32;
}

// Pushes a range; the destructor pops it. Both on the same thread.
class OperationRange {
 public:
  OperationRange(const RangeName& name, const OperationPayload& payload);
  ~OperationRange();
  OperationRange(const OperationRange&) = delete;
  OperationRange& operator=(const OperationRange&) = delete;
  OperationRange(OperationRange&&) = delete;
  OperationRange& operator=(OperationRange&&) = delete;
};

class StepRange {
 public:
  explicit StepRange(const StepPayload& payload);
  ~StepRange();
  StepRange(const StepRange&) = delete;
  StepRange& operator=(const StepRange&) = delete;
  StepRange(StepRange&&) = delete;
  StepRange& operator=(StepRange&&) = delete;
};

enum class Phase : std::uint8_t { kData, kForward, kBackward, kAllReduce, kOptimizer };

class PhaseRange {
 public:
  explicit PhaseRange(Phase phase);
  ~PhaseRange();
  PhaseRange(const PhaseRange&) = delete;
  PhaseRange& operator=(const PhaseRange&) = delete;
  PhaseRange(PhaseRange&&) = delete;
  PhaseRange& operator=(PhaseRange&&) = delete;
};

}  // namespace swinscope
