// What kinds of changes say where they find no place: what is wanting, never that there is nothing to gain.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <gmock/gmock.h>

#include "advisor/advice.h"
#include "advisor/candidates/candidates.h"
#include "tests/unit/advisor/hand_step.h"
#include "tests/unit/advisor/replayed.h"

namespace swinscope::test {
namespace {

using testing::ElementsAre;
using testing::Pair;

using Reasons = std::map<std::string, std::string>;

constexpr const char* kRates = R"({"schema": "swinscope.rates/1", "gpu": "Test GPU",
  "bytes": [{"bytes": 65536, "ns": 4000}, {"bytes": 1048576, "ns": 16000}],
  "products": {"fp32": [{"batch": 1, "m": 64, "n": 1024, "k": 256, "ns": 200000}]}})";
constexpr std::string_view kNoRates =
    "no table of this GPU's rates: `swinscope peaks --rates FILE` measures one, --peaks FILE gives it";
constexpr std::string_view kNoCopies = "the rate at which this GPU copies is not known";
constexpr std::string_view kNoShapes =
    "no product's shape was recorded: torch.profiler records them with record_shapes=True, annotated programs (`swin`) "
    "say theirs";
constexpr std::string_view kNoBytes =
    "the bytes of no such kernel were recorded: annotated programs (`swin`) say theirs";
constexpr std::string_view kNoHopper =
    "it takes a GPU that the trace says to be of compute capability 9 or later (H100)";
constexpr std::string_view kNoInput =
    "no wait for data is marked in the trace (PyTorch's DataLoader and `swin` mark theirs)";
constexpr std::string_view kOfInference = "of inference only: a backward pass reads what would no longer be written";

Reasons reasons_of(const Trace& trace, bool are_rates_known) {
  const Replayed run(trace);
  Work work(run.facts, run.graph);
  const Rates rates = Rates::parse(kRates, "test.json");
  if (are_rates_known) work.set_rates(rates);
  Reasons reasons;
  for (const ChangeKind& kind : change_kinds()) {
    const std::string_view lacking = kind.lacks == nullptr ? std::string_view() : kind.lacks(work);
    if (!lacking.empty()) reasons.emplace(kind.key, lacking);
  }
  return reasons;
}

// A product of 64 rows through a layer of 256 to 1024 values, and an addition that moves 64 KiB.
void known(HandStep& step) {
  step.kernel(kGemm, 190, {},
              R"("class": "gemm", "flops": 33554432, "input_shape": [64, 256], "output_shape": [64, 1024],
                 "precision": "fp32")")
      .kernel(kAdd, 20, {}, R"("class": "elementwise", "bytes_read": 65536)");
}

TEST(Abstention, IsForWantOfTheGpusFigures) {
  EXPECT_THAT(reasons_of(trace_of_step(known), false),
              ElementsAre(Pair("bandwidth", kNoCopies), Pair("input", kNoInput), Pair("mlp", kNoRates),
                          Pair("overlap", kNoHopper), Pair("precision", kNoRates), Pair("projection", kNoRates),
                          Pair("resampling", kNoCopies)));
}

// `swinscope peaks` runs CUDA: it is no way out for HIP's programs.
TEST(Abstention, IsForAGpuThatCannotBeMeasured) {
  HandTrace hand;
  HandRank& rank = hand.add_rank();
  rank.kernel(kGemm, rank.call("hipLaunchKernel", 0, 2), 5, 105);
  rank.call("hipDeviceSynchronize", 4, 110);
  rank.step(0, 112);
  constexpr std::string_view kNotMeasured =
      "no table of this GPU's rates, and `swinscope peaks` measures those of NVIDIA's only";
  const Reasons reasons = reasons_of(hand.build(), false);
  for (const char* kind : {"precision", "projection", "mlp"})
    EXPECT_EQ(reasons.at(kind), kNotMeasured) << kind;
}

TEST(Abstention, IsForWantOfShapesAndBytes) {
  const Trace named = trace_on_gpu(9, [](HandStep& step) { step.kernel(kGemm, 190).kernel(kAdd, 20); });
  EXPECT_THAT(reasons_of(named, true), ElementsAre(Pair("bandwidth", kNoBytes), Pair("input", kNoInput),
                                                   Pair("mlp", kNoShapes), Pair("normalization", kNoShapes),
                                                   Pair("precision", kNoShapes), Pair("projection", kNoShapes)));
}

TEST(Abstention, IsForABackwardPass) {
  const Trace training = trace_on_gpu(9, [](HandStep& step) {
    step.phase("forward");
    known(step);
    step.phase("backward");
    known(step);
  });
  EXPECT_THAT(reasons_of(training, true),
              ElementsAre(Pair("input", kNoInput), Pair("mlp", kOfInference), Pair("normalization", kOfInference),
                          Pair("projection", kOfInference)));
}

TEST(Abstention, IsForAnEarlierGpu) {
  EXPECT_THAT(reasons_of(trace_on_gpu(8, known), true),
              ElementsAre(Pair("input", kNoInput), Pair("overlap", kNoHopper)));
}

// In fp8 the product takes 52 of 50 as in fp16: 40 longer of 1000. At most 116 would be saved.
TEST(Abstention, IsForWhatIsLikelyToCost) {
  const std::string peaks = testing::TempDir() + "swinscope_costs.json";
  std::ofstream(peaks) << R"({"schema": "swinscope.rates/1", "gpu": "Test GPU",
    "bytes": [{"bytes": 65536, "ns": 4000}, {"bytes": 1048576, "ns": 16000}],
    "products": {"fp16": [{"batch": 1, "m": 64, "n": 1024, "k": 256, "ns": 50000}],
                 "fp8": [{"batch": 1, "m": 64, "n": 1024, "k": 256, "ns": 52000}]}})";
  const Trace trace = trace_of_step([](HandStep& step) {
    step.kernel(kGemm, 1000, {},
                R"("class": "gemm", "flops": 33554432, "input_shape": [64, 256], "output_shape": [64, 1024],
                   "precision": "fp16")");
  });
  AdviceOptions options;
  options.peaks = peaks;
  const Advice advice = Advisor(RunFacts(trace, {}), options).advice();
  std::filesystem::remove(peaks);
  EXPECT_THAT(advice.cards, testing::IsEmpty());
  const auto found = std::ranges::find(advice.abstained, "precision", &Abstention::of);
  ASSERT_NE(found, advice.abstained.end());
  EXPECT_EQ(found->reason,
            "1 place: none saves 0.2 % of the step; nearest: Compute products in fp8 instead of fp16 (once a step), "
            "40.00 us longer");
}

// There is nothing that a change could be made of.
TEST(Abstention, IsNotForWhatIsNotThere) {
  EXPECT_THAT(reasons_of(trace_on_gpu(9, known), true), ElementsAre(Pair("input", kNoInput)));
  EXPECT_THAT(reasons_of(trace_on_gpu(9, [](HandStep& step) { step.kernel("unknown", 100); }), true),
              ElementsAre(Pair("input", kNoInput)));
}

}  // namespace
}  // namespace swinscope::test
