// A trace of one step, made by hand, and the changes of a kind that are found in it.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "advisor/candidates/candidates.h"
#include "tests/unit/advisor/hand_step.h"
#include "tests/unit/advisor/replayed.h"

namespace swinscope::test {

using Names = std::vector<std::string>;
using Factors = std::array<double, 3>;

inline constexpr std::string_view kMul = "elementwise_kernel";
inline constexpr std::string_view kAdam =
    "void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>, int>(int)";
inline constexpr std::string_view kResampling =
    "void at::native::upsample_bilinear2d_backward_out_frame<float, float>(int)";
inline const Stream kSide{8};

// A trace of one step and the changes of a kind in it.
class Candidates {
 public:
  explicit Candidates(const std::function<void(HandStep&)>& step)
      : run_(trace_of_step(step)), work_(run_.facts, run_.graph) {}

  Work& work() { return work_; }
  Names names(const std::vector<OpRef>& refs) const {
    Names names;
    for (const OpRef& ref : refs)
      names.emplace_back(name_of(ref));
    return names;
  }
  // What the first of its scaled work takes when earlier changes and this one are made, in the units of the trace; by
  // Estimate.
  std::array<double, 3> times(const Change& change, const std::vector<Change>& earlier = {}) const {
    std::array<double, 3> times{};
    for (const Estimate estimate : kEstimates) {
      DependencyGraph edited = run_.graph;
      for (const Change& before : earlier)
        apply(before, estimate, {}, edited);
      apply(change, estimate, {}, edited);
      const OpRef op = change.scaled.at(0).op;
      times.at(static_cast<std::size_t>(estimate)) =
          static_cast<double>(edited.ranks[op.rank].ops[op.op].duration_ns) * 1e-3;
    }
    return times;
  }
  // What the first kernel of that name likely takes when these changes are made.
  double time_of(std::string_view kernel, const std::vector<Change>& changes) const {
    DependencyGraph edited = run_.graph;
    for (const Change& change : changes)
      apply(change, Estimate::kLikely, {}, edited);
    for (NodeIndex op = 0; op < edited.ranks[0].ops.size(); ++op)
      if (name_of({0, op}) == kernel) return static_cast<double>(edited.ranks[0].ops[op].duration_ns) * 1e-3;
    return -1;
  }
  // The kernel of the only scaled work.
  std::string scaled(const Change& change) const { return std::string(name_of(change.scaled.at(0).op)); }

 private:
  std::string_view name_of(const OpRef& ref) const {
    const Rank& rank = run_.trace.ranks[run_.graph.ranks[ref.rank].rank_index];
    return run_.trace.text(rank.gpu.name[run_.graph.ranks[ref.rank].ops[ref.op].event]);
  }

  Replayed run_;
  Work work_;
};

inline void expect_factors(const Scaled& scaled, const Factors& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_THAT(scaled.factor.at(i), testing::DoubleNear(expected.at(i), 1e-9)) << i;
}

// 64 rows through a layer of 256 to 1024 values: 200 us in fp32, 100 in TF32, 50 in fp16, 25 in fp8. Casts of its
// input, 3 * 64 * 256 bytes, take the time of the smallest row, 4 us.
inline constexpr const char* kRates = R"({"schema": "swinscope.rates/1", "gpu": "Test GPU",
  "bytes": [{"bytes": 65536, "ns": 4000}, {"bytes": 1048576, "ns": 16000}],
  "products": {"fp32": [{"batch": 1, "m": 64, "n": 1024, "k": 256, "ns": 200000}],
               "tf32": [{"batch": 1, "m": 64, "n": 1024, "k": 256, "ns": 100000}],
               "fp16": [{"batch": 1, "m": 64, "n": 1024, "k": 256, "ns": 50000}],
               "fp8": [{"batch": 1, "m": 64, "n": 1024, "k": 256, "ns": 25000}]}})";
inline constexpr std::string_view kLayer =
    R"("class": "gemm", "flops": 33554432, "input_shape": [64, 256], "output_shape": [64, 1024], "precision": )";

inline std::string layer(std::string_view precision) { return fmt::format(R"({}"{}")", kLayer, precision); }

}  // namespace swinscope::test
