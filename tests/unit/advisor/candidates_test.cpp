// What each kind of change is found in, what of the work it is about, and what it is not found in.
#include "tests/unit/advisor/candidates.h"

#include <gmock/gmock.h>

#include "advisor/advice.h"

namespace swinscope::test {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// The 60 behind a product of 100: 50 %, 15 % and nothing of them are added to it.
TEST(Epilogue, IsWhatFollowsAProduct) {
  Candidates run([](HandStep& step) { step.kernel(kGemm, 100).kernel(kAdd, 40).kernel(kMul, 20).kernel(kNorm, 90); });
  const std::vector<Change> found = find_epilogues(run.work());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "epilogue-1");
  EXPECT_EQ(found[0].kind, "epilogue");
  EXPECT_EQ(found[0].title,
            "Move vectorized_elementwise_kernel + elementwise_kernel into the product before it (once a step)");
  EXPECT_THAT(run.names(found[0].evidence), ElementsAre(kGemm, kAdd, kMul));
  EXPECT_THAT(run.names(found[0].removed()), ElementsAre(kAdd, kMul));
  ASSERT_THAT(found[0].scaled, SizeIs(1));
  EXPECT_EQ(run.scaled(found[0]), kGemm);
  EXPECT_THAT(run.times(found[0]), ElementsAre(130, 109, 100));
  EXPECT_EQ(found[0].confidence, Confidence::kPlausible);
}

// The product writes where the copies put its result; a copy behind which nothing is added stays.
TEST(Epilogue, ReachesThroughCopiesThatReorder) {
  Candidates run([](HandStep& step) { step.kernel(kGemm, 100).kernel(kCat, 30).kernel(kAdd, 30).kernel(kCat, 30); });
  const std::vector<Change> found = find_epilogues(run.work());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(run.names(found[0].removed()), ElementsAre(kCat, kAdd));
  EXPECT_THAT(run.times(found[0]), ElementsAre(130, 109, 100));
  Candidates three([](HandStep& step) {
    step.kernel(kGemm, 100).kernel(kCat, 30).kernel(kCat, 30).kernel(kCat, 30).kernel(kAdd, 30);
  });
  EXPECT_THAT(find_epilogues(three.work()), IsEmpty());
}

TEST(Epilogue, StandsBehindTheSumsOfAProductsParts) {
  Candidates run([](HandStep& step) { step.kernel(kGemm, 100).kernel("splitKreduce_kernel", 10).kernel(kAdd, 60); });
  const std::vector<Change> found = find_epilogues(run.work());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(run.names(found[0].removed()), ElementsAre(kAdd));
}

TEST(Epilogue, HasThreeKernelsAtMost) {
  Candidates run([](HandStep& step) {
    step.kernel(kGemm, 100).kernel(kAdd, 10).kernel(kAdd, 10).kernel(kAdd, 10).kernel(kAdd, 10);
  });
  EXPECT_THAT(find_epilogues(run.work()).at(0).removed(), SizeIs(3));
}

TEST(Epilogue, PlacesOfTheSameKernelsAreOneChange) {
  Candidates run([](HandStep& step) {
    step.kernel(kGemm, 100).kernel(kAdd, 10).kernel(kGemm, 100).kernel(kMul, 30).kernel(kGemm, 50).kernel(kAdd, 10);
  });
  const std::vector<Change> found = find_epilogues(run.work());
  ASSERT_THAT(found, SizeIs(2));
  // By the time of their work: 100 + 10 + 50 + 10 against 100 + 30.
  EXPECT_THAT(found[0].title, HasSubstr("Move vectorized_elementwise_kernel into"));
  EXPECT_THAT(found[0].title, HasSubstr("(2 times a step)"));
  EXPECT_THAT(found[0].removed(), SizeIs(2));
  EXPECT_EQ(found[1].id, "epilogue-2");
  EXPECT_THAT(run.names(found[1].removed()), ElementsAre(kMul));
}

TEST(Epilogue, IsNotWhatTheHostWaitsBefore) {
  Candidates run([](HandStep& step) { step.kernel(kGemm, 100).wait().kernel(kAdd, 40); });
  EXPECT_THAT(find_epilogues(run.work()), IsEmpty());
}

// More than twice the product's time: it works on something larger.
TEST(Epilogue, IsNotWhatTakesLongerThanTheProduct) {
  Candidates longer([](HandStep& step) { step.kernel(kGemm, 100).kernel(kAdd, 201); });
  EXPECT_THAT(find_epilogues(longer.work()), IsEmpty());
  Candidates as_long([](HandStep& step) { step.kernel(kGemm, 100).kernel(kAdd, 200); });
  EXPECT_THAT(find_epilogues(as_long.work()), SizeIs(1));
}

TEST(Epilogue, IsNotAnotherStreamsWork) {
  Candidates run([](HandStep& step) { step.kernel(kGemm, 100).kernel(kAdd, 40, kSide); });
  EXPECT_THAT(find_epilogues(run.work()), IsEmpty());
}

TEST(Fusion, KeepsTheLongest) {
  Candidates run([](HandStep& step) { step.kernel(kNorm, 100).kernel(kAdd, 200).kernel(kGemm, 600); });
  const std::vector<Change> found = find_fusions(run.work());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "fusion-1");
  EXPECT_THAT(run.names(found[0].evidence), ElementsAre(kNorm, kAdd));
  EXPECT_THAT(run.names(found[0].removed()), ElementsAre(kNorm));
  EXPECT_EQ(run.scaled(found[0]), kAdd);
  EXPECT_THAT(run.times(found[0]), ElementsAre(250, 215, 200));
}

TEST(Fusion, IsNotOfOneKernelNorAcrossAWait) {
  Candidates single([](HandStep& step) { step.kernel(kNorm, 100).kernel(kGemm, 100).kernel(kAdd, 100); });
  EXPECT_THAT(find_fusions(single.work()), IsEmpty());
  Candidates waits([](HandStep& step) { step.kernel(kNorm, 100).wait().kernel(kAdd, 100); });
  EXPECT_THAT(find_fusions(waits.work()), IsEmpty());
}

TEST(Fusion, IsNotAcrossPhases) {
  const auto step_of = [](std::string_view second) {
    return [second](HandStep& step) {
      step.phase("forward").kernel(kNorm, 100, {}, R"("class": "norm")");
      step.phase(second).kernel(kAdd, 100, {}, R"("class": "elementwise")");
    };
  };
  Candidates other(step_of("backward"));
  EXPECT_THAT(find_fusions(other.work()), IsEmpty());
  Candidates same(step_of("forward"));
  EXPECT_THAT(find_fusions(same.work()), SizeIs(1));
}

// Six times the other's time; below 5 us times do not tell.
TEST(Fusion, IsNotOfTensorsOfVeryDifferentSizes) {
  Candidates larger([](HandStep& step) { step.kernel(kNorm, 20).kernel(kAdd, 121); });
  EXPECT_THAT(find_fusions(larger.work()), IsEmpty());
  Candidates as_large([](HandStep& step) { step.kernel(kNorm, 20).kernel(kAdd, 120); });
  EXPECT_THAT(find_fusions(as_large.work()), SizeIs(1));
  Candidates small([](HandStep& step) { step.kernel(kNorm, 0).kernel(kAdd, 5); });
  EXPECT_THAT(find_fusions(small.work()), SizeIs(1));
}

// The products of 160 take all, a half and a quarter of that, in the first one's place.
TEST(Attention, IsProductSoftmaxProduct) {
  Candidates run([](HandStep& step) {
    step.kernel(kNorm, 90).kernel(kGemm, 70).kernel(kGemm, 100).kernel(kAdd, 20).kernel(kSoftmax, 50);
    step.kernel(kGemm, 60).kernel(kNorm, 90);
  });
  const std::vector<Change> found = find_attention(run.work());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "attention-1");
  EXPECT_EQ(found[0].title,
            "One kernel for attention instead of ampere_sgemm_128x64_tn + vectorized_elementwise_kernel + "
            "softmax_warp_forward + ampere_sgemm_128x64_tn (once a step)");
  EXPECT_THAT(run.names(found[0].evidence), ElementsAre(kGemm, kAdd, kSoftmax, kGemm));
  EXPECT_THAT(run.names(found[0].removed()), ElementsAre(kAdd, kSoftmax, kGemm));
  EXPECT_EQ(run.scaled(found[0]), kGemm);
  EXPECT_EQ(found[0].scaled[0].op, found[0].evidence[0]);
  expect_factors(found[0].scaled[0], {1.6, 0.8, 0.4});
}

TEST(Attention, NormalizesQueriesAndKeys) {
  Candidates run([](HandStep& step) {
    step.kernel(kGemm, 70).kernel(kCat, 10).kernel(kNorm, 20).kernel(kNorm, 20).kernel(kGemm, 100);
    step.kernel(kSoftmax, 50).kernel(kGemm, 60).kernel(kNorm, 90);
  });
  const std::vector<Change> found = find_attention(run.work());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(run.names(found[0].removed()), ElementsAre(kCat, kNorm, kNorm, kSoftmax, kGemm));
}

TEST(Attention, BackwardHasTwoProductsOnEachSide) {
  Candidates run([](HandStep& step) {
    for (int i = 0; i < 3; ++i)
      step.kernel(kGemm, 100);
    step.kernel("softmax_warp_backward", 50);
    for (int i = 0; i < 3; ++i)
      step.kernel(kGemm, 100);
  });
  const std::vector<Change> found = find_attention(run.work());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].title,
            "One kernel for attention's backward pass instead of 2 x ampere_sgemm_128x64_tn + softmax_warp_backward + "
            "2 x ampere_sgemm_128x64_tn (once a step)");
  EXPECT_THAT(found[0].removed(), SizeIs(4));
  expect_factors(found[0].scaled.at(0), {4, 2, 1});
}

TEST(Attention, IsNotFoundWhereAPartIsMissing) {
  const std::vector<std::function<void(HandStep&)>> steps = {
      [](HandStep& step) { step.kernel(kGemm, 100).kernel(kSoftmax, 50); },
      [](HandStep& step) { step.kernel(kSoftmax, 50).kernel(kGemm, 100); },
      [](HandStep& step) { step.kernel(kGemm, 100).kernel(kAdd, 50).kernel(kGemm, 100); },
      [](HandStep& step) { step.kernel(kGemm, 100).kernel(kSoftmax, 50).wait().kernel(kGemm, 100); },
      [](HandStep& step) { step.kernel(kGemm, 100).kernel(kResampling, 10).kernel(kSoftmax, 50).kernel(kGemm, 100); },
      // Fused already.
      [](HandStep& step) { step.kernel(kGemm, 100).kernel("flash_fwd_kernel", 50).kernel(kGemm, 100); }};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Candidates run(steps[i]);
    EXPECT_THAT(find_attention(run.work()), IsEmpty()) << i;
  }
}

TEST(Attention, IsOfOneBlock) {
  const auto step_of = [](std::string_view last) {
    return [last](HandStep& step) {
      step.at("stage1.block1.attn.scores").kernel(kGemm, 100, {}, R"("class": "gemm")");
      step.at("stage1.block1.attn.softmax").kernel(kSoftmax, 50, {}, R"("class": "softmax")");
      step.at(last).kernel(kGemm, 100, {}, R"("class": "gemm")");
    };
  };
  Candidates same(step_of("stage1.block1.attn.values"));
  EXPECT_THAT(find_attention(same.work()), SizeIs(1));
  Candidates other(step_of("stage1.block2.attn.values"));
  EXPECT_THAT(find_attention(other.work()), IsEmpty());
}

TEST(Layout, IsEachCopyThatReorders) {
  Candidates run([](HandStep& step) {
    step.kernel(kCat, 30).kernel("direct_copy_kernel_cuda", 90).kernel(kGemm, 100).kernel(kCat, 10);
  });
  const std::vector<Change> found = find_layouts(run.work());
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_THAT(run.names(found[0].evidence), ElementsAre("direct_copy_kernel_cuda"));
  EXPECT_EQ(found[1].id, "layout-2");
  EXPECT_EQ(found[1].title, "Do without CatArrayBatchedCopy (2 times a step)");
  EXPECT_THAT(run.names(found[1].evidence), ElementsAre(kCat, kCat));
  EXPECT_THAT(found[1].removed(), IsEmpty());
  ASSERT_THAT(found[1].scaled, SizeIs(2));
  expect_factors(found[1].scaled[1], {0.5, 0.25, 0});
  EXPECT_EQ(found[1].confidence, Confidence::kSpeculative);
}

TEST(Layout, IsNoArithmetic) {
  Candidates run([](HandStep& step) { step.kernel(kAdd, 30).kernel(kNorm, 90).kernel(kGemm, 100); });
  EXPECT_THAT(find_layouts(run.work()), IsEmpty());
}

// 100 in all: a half, a third and a quarter of it, in the first one's 20.
TEST(Optimizer, ManyKernelsBecomeOne) {
  Candidates run([](HandStep& step) {
    step.kernel(kGemm, 100);
    for (int i = 0; i < 5; ++i)
      step.kernel(kAdam, 20);
  });
  const std::vector<Change> found = find_optimizers(run.work());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "optimizer-1");
  EXPECT_EQ(found[0].title, "One fused kernel for the optimizer's step (once a step)");
  EXPECT_THAT(found[0].evidence, SizeIs(5));
  EXPECT_THAT(found[0].removed(), SizeIs(4));
  EXPECT_EQ(found[0].scaled.at(0).op, found[0].evidence[0]);
  expect_factors(found[0].scaled[0], {2.5, 5.0 / 3, 1.25});
}

TEST(Optimizer, HasElementwiseKernelsOfItsPhase) {
  const auto step_of = [](std::string_view phase) {
    return [phase](HandStep& step) {
      step.phase(phase);
      for (int i = 0; i < 5; ++i)
        step.kernel(kAdd, 20, {}, R"("class": "elementwise")");
    };
  };
  Candidates optimizer(step_of("optimizer"));
  EXPECT_THAT(find_optimizers(optimizer.work()), SizeIs(1));
  Candidates backward(step_of("backward"));
  EXPECT_THAT(find_optimizers(backward.work()), IsEmpty());
}

TEST(Optimizer, ThatIsFusedIsNone) {
  Candidates run([](HandStep& step) {
    for (int i = 0; i < 14; ++i)
      step.kernel("multi_tensor_apply_kernel<FusedOptimizerTensorListMetadata<4>, FusedAdamMathFunctor<float>>", 20);
  });
  EXPECT_THAT(find_optimizers(run.work()), IsEmpty());
}

// 6 of 10 beside one of 100: half, 15 % and nothing of them is added to it.
TEST(Optimizer, ThatIsFusedMayTakeOverItsOtherKernels) {
  Candidates run([](HandStep& step) {
    for (int i = 0; i < 6; ++i)
      step.kernel(kAdam, 10);
    for (int i = 0; i < 2; ++i)
      step.kernel("multi_tensor_apply_kernel<FusedOptimizerTensorListMetadata<4>, FusedAdamMathFunctor<float>>", 100);
  });
  const std::vector<Change> found = find_optimizers(run.work());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].removed(), SizeIs(6)) << "the second fused kernel stays";
  EXPECT_THAT(run.times(found[0]), ElementsAre(130, 109, 100));
}

TEST(Optimizer, OfFourKernelsIsFusedAlready) {
  Candidates run([](HandStep& step) {
    for (int i = 0; i < 4; ++i)
      step.kernel(kAdam, 20);
  });
  EXPECT_THAT(find_optimizers(run.work()), IsEmpty());
}

// 8,000,000 floats, and a quarter of them again: 40 MB, which take 40 us at 1000 GB/s.
TEST(Resampling, IsAGatherAtTheRateOfCopies) {
  constexpr std::int32_t kThreads = 8'000'000;
  Candidates run([](HandStep& step) {
    step.kernel(kResampling, 400, {}, {}, kThreads);
    step.kernel("void at::native::upsample_nearest2d_backward_out_frame<c10::Half>(int)", 400, {}, {}, kThreads);
  });
  run.work().set_copy_rate(1e12, "a test");
  const std::vector<Change> found = find_resampling(run.work());
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].id, "resampling-1");
  EXPECT_EQ(found[0].title, "Gather instead of atomics in upsample_bilinear2d_backward_out_frame (once a step)");
  EXPECT_THAT(found[0].assumptions.at(0), HasSubstr("at 1000 GB/s (a test)"));
  EXPECT_THAT(run.names(found[0].evidence), ElementsAre(kResampling));
  EXPECT_THAT(found[0].removed(), IsEmpty());
  EXPECT_EQ(found[0].confidence, Confidence::kLikely);
  EXPECT_THAT(run.times(found[0]), ElementsAre(240, 80, 40));
  EXPECT_THAT(run.times(found[1]), ElementsAre(120, 40, 20));  // two bytes each
}

TEST(Resampling, IsNotForwardNorAtThatRateAlready) {
  constexpr std::int32_t kThreads = 8'000'000;
  Candidates run([](HandStep& step) {
    step.kernel("upsample_bilinear2d_out_frame", 400, {}, {}, kThreads).kernel(kResampling, 79, {}, {}, kThreads);
  });
  EXPECT_THAT(find_resampling(run.work()), IsEmpty()) << "the rate of copies is not known";
  run.work().set_copy_rate(1e12, "a test");
  EXPECT_THAT(find_resampling(run.work()), IsEmpty());
  run.work().set_copy_rate(1e12 * 40 / 39, "a test");
  EXPECT_THAT(find_resampling(run.work()), SizeIs(1));
}

// 40 MB in 400 us; 40 us are the least at 1000 GB/s.
constexpr std::string_view kMoves40 = R"("class": "elementwise", "bytes_read": 30000000, "bytes_written": 10000000)";

TEST(Bandwidth, IsWhatIsFarBelowTheRateOfCopies) {
  Candidates run([](HandStep& step) { step.kernel(kAdd, 400, {}, kMoves40).kernel(kGemm, 100); });
  run.work().set_copy_rate(1e12, "a test");
  const std::vector<Change> found = find_slow_kernels(run.work());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "bandwidth-1");
  EXPECT_EQ(found[0].title, "Let vectorized_elementwise_kernel move its data at the rate of copies (once a step)");
  EXPECT_EQ(found[0].why, "it reaches less than half of the 1000 GB/s that copies do (a test)");
  EXPECT_THAT(run.names(found[0].evidence), ElementsAre(kAdd));
  EXPECT_THAT(found[0].removed(), IsEmpty());
  EXPECT_THAT(run.times(found[0]), ElementsAre(80, 50, 40));
}

// A kernel that is fast enough when it moves what it is given gets no longer by a worse estimate.
TEST(Bandwidth, DoesNotSlowDown) {
  Candidates run([](HandStep& step) { step.kernel(kAdd, 82, {}, kMoves40); });
  run.work().set_copy_rate(1e12, "a test");
  EXPECT_THAT(run.times(find_slow_kernels(run.work()).at(0)), ElementsAre(80, 50, 40));
  run.work().set_copy_rate(0.99e12, "a test");
  EXPECT_EQ(run.times(find_slow_kernels(run.work()).at(0)).at(0), std::min(82.0, 80.808));
}

TEST(Bandwidth, IsNotWhatIsFastOrShortOrUnknown) {
  Candidates run([](HandStep& step) {
    step.kernel(kAdd, 79, {}, kMoves40);                                                 // half of the rate
    step.kernel(kAdd, 9, {}, R"("class": "elementwise", "bytes_read": 1000)");           // too short
    step.kernel(kAdd, 400).kernel(kMul, 400, {}, R"("class": "elementwise")");           // bytes are not known
    step.kernel(kGemm, 400, {}, R"("class": "gemm", "bytes_read": 1000, "flops": 10)");  // computes
  });
  EXPECT_THAT(find_slow_kernels(run.work()), IsEmpty()) << "the rate of copies is not known";
  run.work().set_copy_rate(1e12, "a test");
  EXPECT_THAT(find_slow_kernels(run.work()), IsEmpty());
}

// 16 windows of 64 tokens, 4 heads of 32: each product has 64 x 64 x 32, 64 times; queries, keys, values and result are
// 4 x 131,072 values, 2 MB in fp32, 32 us at the rate of copies, of which 45, 65 and 90 % are reached. The products'
// 33.5 MFLOP would take less at the best rate, 0.168 FLOP/ns: 200 us at all of it; at 25, 50 and 80 % 800, 400 and 250.
TEST(Attention, TakesWhatItsShapesNeed) {
  const std::string scores =
      R"("class": "gemm", "flops": 16777216, "input_shape": [64, 64, 32], "output_shape": [64, 64, 64], "precision": "fp32")";
  const std::string values =
      R"("class": "gemm", "flops": 16777216, "input_shape": [64, 64, 64], "output_shape": [64, 64, 32], "precision": "fp32")";
  Candidates run([&](HandStep& step) {
    step.at("attn.scores").kernel(kGemm, 900, {}, scores);
    step.at("attn.softmax").kernel(kSoftmax, 900, {}, R"("class": "softmax", "precision": "fp32")");
    step.at("attn.values").kernel(kGemm, 900, {}, values);
  });
  const Rates slow = Rates::parse(kRates, "test.json");
  run.work().set_rates(slow);
  const auto times = run.times(find_attention(run.work()).at(0));
  EXPECT_THAT(times.at(0), DoubleNear(800, 0.1));
  EXPECT_THAT(times.at(1), DoubleNear(400, 0.1));
  EXPECT_THAT(times.at(2), DoubleNear(250, 0.1));

  // With products a hundred times as fast, moving the values decides; in fp16 half as many bytes.
  const Rates fast = Rates::parse(R"({"schema": "swinscope.rates/1", "gpu": "Test GPU",
    "bytes": [{"bytes": 65536, "ns": 1000}, {"bytes": 4194304, "ns": 64000}],
    "products": {"fp32": [{"batch": 1, "m": 64, "n": 1024, "k": 256, "ns": 2000}],
                 "fp16": [{"batch": 1, "m": 64, "n": 1024, "k": 256, "ns": 2000}]}})",
                                  "test.json");
  run.work().set_rates(fast);
  const Change change = find_attention(run.work()).at(0);
  const auto wide = run.times(change);
  EXPECT_THAT(wide.at(0), DoubleNear(32 / 0.45, 0.01));
  EXPECT_THAT(wide.at(1), DoubleNear(32 / 0.65, 0.01));
  EXPECT_THAT(wide.at(2), DoubleNear(32 / 0.9, 0.01));
  Change halves;
  halves.scaled.push_back({.op = change.scaled.at(0).op, .halves_values = true});
  EXPECT_THAT(run.times(change, {halves}).at(1), DoubleNear(16 / 0.65, 0.01));
}

// The windows above, behind the product of 1,024 tokens of 128 values that computes their queries, keys and values:
// 100.7 and 33.6 MFLOP, 800 us at the best rate; at 20, 33 and 55 % of it 4000, 2424.2 and 1454.5.
TEST(Projection, IsPartOfAttentionWhereThatIsShorter) {
  const auto step_of = [](std::string_view last_phase, std::string_view wide) {
    return [last_phase, wide](HandStep& step) {
      const std::string scores =
          R"("class": "gemm", "flops": 16777216, "input_shape": [64, 64, 32], "output_shape": [64, 64, 64], "precision": "fp32")";
      const std::string values =
          R"("class": "gemm", "flops": 16777216, "input_shape": [64, 64, 64], "output_shape": [64, 64, 32], "precision": "fp32")";
      step.phase("forward");
      step.at("attn.qkv").kernel(kGemm, 2000, {}, wide);
      step.at("attn.split").kernel(kCat, 100, {}, R"("class": "layout")");
      step.at("attn.scores").kernel(kGemm, 900, {}, scores);
      step.at("attn.softmax").kernel(kSoftmax, 900, {}, R"("class": "softmax", "precision": "fp32")");
      step.at("attn.values").kernel(kGemm, 900, {}, values);
      if (!last_phase.empty()) step.phase(last_phase).kernel(kAdd, 10, {}, R"("class": "elementwise")");
    };
  };
  constexpr std::string_view kQkv =
      R"("class": "gemm", "flops": 100663296, "input_shape": [1024, 128], "output_shape": [1024, 384], "precision": "fp32")";
  constexpr std::string_view kOther =
      R"("class": "gemm", "flops": 67108864, "input_shape": [1024, 128], "output_shape": [1024, 256], "precision": "fp32")";
  const Rates rates = Rates::parse(kRates, "test.json");
  Candidates run(step_of("", kQkv));
  EXPECT_THAT(find_projections(run.work()), IsEmpty()) << "rates are not known";
  run.work().set_rates(rates);
  const std::vector<Change> found = find_projections(run.work());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "projection-1");
  EXPECT_EQ(found[0].confidence, Confidence::kSpeculative);
  const auto alone = run.times(found[0]);
  EXPECT_THAT(alone.at(0), DoubleNear(4000, 0.1));
  EXPECT_THAT(alone.at(1), DoubleNear(2424.2, 0.1));
  EXPECT_THAT(alone.at(2), DoubleNear(1454.5, 0.1));
  // Beside attention as one kernel of 800, 400 and 250 the product of 2000 stays, but in the last case.
  const auto behind = run.times(found[0], {find_attention(run.work()).at(0)});
  EXPECT_THAT(behind.at(0), DoubleNear(800, 0.1));
  EXPECT_THAT(behind.at(1), DoubleNear(400, 0.1));
  EXPECT_THAT(behind.at(2), DoubleNear(1454.5, 0.1));
  for (const auto& [phase, product] : {std::pair{"backward", kQkv}, std::pair{"", kOther}}) {
    Candidates other(step_of(phase, product));
    other.work().set_rates(rates);
    EXPECT_THAT(find_projections(other.work()), IsEmpty());
  }
}

// 64 rows of 256 values to 1024 and back: 400 us at the best rate; at 40, 55 and 75 % of it 1000, 727.3 and 533.3.
TEST(Mlp, OfShortRowsIsOneKernel) {
  const auto product = [](int rows, int from, int to) {
    return fmt::format(
        R"("class": "gemm", "flops": {}, "input_shape": [{}, {}], "output_shape": [{}, {}], "precision": "fp32")",
        2 * rows * from * to, rows, from, rows, to);
  };
  const auto step_of = [&](int from, int rows_then, std::int64_t ns, std::string_view between) {
    return [=](HandStep& step) {
      step.kernel(kGemm, ns, {}, product(64, from, 1024)).kernel(between, 100);
      step.kernel(kGemm, ns, {}, product(rows_then, 1024, from)).kernel(kNorm, 50);
    };
  };
  const Rates rates = Rates::parse(kRates, "test.json");
  Candidates run(step_of(256, 64, 550, kAdd));
  run.work().set_rates(rates);
  const std::vector<Change> found = find_mlps(run.work());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "mlp-1");
  EXPECT_EQ(found[0].confidence, Confidence::kSpeculative);
  EXPECT_THAT(run.names(found[0].evidence), ElementsAre(kGemm, kAdd, kGemm));
  for (const std::vector<Change>& earlier : {std::vector<Change>(), find_epilogues(run.work())}) {
    const auto times = run.times(found[0], earlier);
    EXPECT_THAT(times.at(0), DoubleNear(1000, 0.1));
    EXPECT_THAT(times.at(1), DoubleNear(727.3, 0.1));
    EXPECT_THAT(times.at(2), DoubleNear(533.3, 0.1));
  }
  Candidates quick(step_of(256, 64, 250, kAdd));
  quick.work().set_rates(rates);
  const auto stays = quick.times(find_mlps(quick.work()).at(0));
  EXPECT_THAT(stays, ElementsAre(250, 250, DoubleNear(533.3, 0.1))) << "one kernel would take longer than three";
  for (const auto& step : {step_of(257, 64, 550, kAdd), step_of(256, 32, 550, kAdd), step_of(256, 64, 550, kNorm)}) {
    Candidates other(step);
    other.work().set_rates(rates);
    EXPECT_THAT(find_mlps(other.work()), IsEmpty());
  }
}

// With the sum behind it: 15 % of 40 and 20.
TEST(Normalization, OfShortRowsIsPartOfTheProductThatWritesThem) {
  const auto step_of = [](std::int64_t n) {
    return [n](HandStep& step) {
      const std::string product = fmt::format(
          R"("class": "gemm", "flops": {}, "input_shape": [64, 512], "output_shape": [64, {}])", n * 2 * 64 * 512, n);
      step.phase("forward").kernel(kGemm, 100, {}, product).kernel(kAdd, 5).kernel(kCat, 5).kernel(kNorm, 40);
      step.kernel(kAdd, 20).kernel(kAdd, 10);
    };
  };
  Candidates run(step_of(256));
  const std::vector<Change> found = find_normalizations(run.work());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].title,
            "Let the product that writes them normalize its rows, instead of layer_norm_kernel + "
            "vectorized_elementwise_kernel (once a step)");
  EXPECT_EQ(run.scaled(found[0]), kGemm);
  EXPECT_THAT(run.times(found[0]), ElementsAre(130, 109, 100));
  EXPECT_THAT(find_normalizations(Candidates(step_of(257)).work()), IsEmpty()) << "its rows are too long";
}

TEST(Normalization, OfShortRowsIsPartOfTheProductThatReadsThem) {
  const auto step_of = [](std::int64_t k, std::string_view phase) {
    return [k, phase](HandStep& step) {
      const std::string product = fmt::format(
          R"("class": "gemm", "flops": {}, "input_shape": [64, {}], "output_shape": [64, 512])", k * 2 * 64 * 512, k);
      step.phase("forward").kernel(kNorm, 40).kernel(kCat, 20).kernel(kGemm, 100, {}, product).kernel(kNorm, 40);
      if (!phase.empty()) step.phase(phase).kernel(kAdd, 10, {}, R"("class": "elementwise")");
    };
  };
  Candidates run(step_of(256, ""));
  const std::vector<Change> found = find_normalizations(run.work());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "normalization-1");
  EXPECT_THAT(run.names(found[0].removed()), ElementsAre(kNorm, kCat));
  EXPECT_EQ(run.scaled(found[0]), kGemm);
  EXPECT_THAT(run.times(found[0]), ElementsAre(130, 109, 100));
  EXPECT_THAT(find_normalizations(Candidates(step_of(257, "")).work()), IsEmpty()) << "its rows are too long";
  EXPECT_THAT(find_normalizations(Candidates(step_of(256, "backward")).work()), IsEmpty())
      << "the gradient of the weights reads the normalized rows";
}

// What takes the place of a launch falls away with its kernel; what a program does once, at the first launch of
// something, is done at another one.
TEST(Fusion, DoesNotSaveWhatIsLoadedOnce) {
  const auto host_ns = [](std::int64_t length) {
    const Replayed run(trace_of_step(
        [&](HandStep& step) { step.kernel(kNorm, 10).launch_takes(length).kernel(kAdd, 10).kernel(kGemm, 60); }));
    const Work work(run.facts, run.graph);
    const std::vector<Change> found = find_fusions(work);
    DependencyGraph edited = run.graph;
    for (const Change& change : found)
      apply(change, Estimate::kMost, {}, edited);
    std::int64_t sum = 0;
    for (const CallNode& call : edited.ranks[0].calls)
      if (call.ops.size() > 0) sum += call.own_ns;
    EXPECT_THAT(found, Not(IsEmpty()));
    return sum;
  };
  EXPECT_EQ(host_ns(400), 4'000) << "two launches are left";
  EXPECT_EQ(host_ns(600), 604'000);
}

// On Hopper and later: a gap of 1 is gone, and of the time of an empty kernel none, half and all is hidden.
TEST(Overlap, StartsKernelsWhileThoseBeforeThemEnd) {
  const auto trace_of = [](int compute_major) {
    return trace_on_gpu(compute_major, [](HandStep& step) {
      step.kernel("first", 100);
      for (int i = 0; i < 7; ++i)
        step.kernel(kGemm, 100);
      step.kernel("last", 6).wait().kernel(kNorm, 10);
    });
  };
  const Rates rates = Rates::parse(R"({"schema": "swinscope.rates/1", "gpu": "Test GPU",
    "scalars": {"empty_kernel": 2000}, "bytes": [{"bytes": 65536, "ns": 4000}]})",
                                   "test.json");
  const auto found_in = [&](const Replayed& run) {
    Work work(run.facts, run.graph);
    work.set_rates(rates);
    return find_overlaps(work);
  };
  const Replayed hopper(trace_of(9));
  const std::vector<Change> found = found_in(hopper);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].title, "Start kernels while those before them end (8 times a step)") << "not behind a wait";
  EXPECT_EQ(found[0].confidence, Confidence::kSpeculative);
  const std::array<std::int64_t, 3> expected = {0, -1'000, -2'000};
  for (const Estimate estimate : kEstimates) {
    DependencyGraph edited = hopper.graph;
    apply(found[0], estimate, {}, edited);
    EXPECT_EQ(edited.ranks[0].ops[hopper.op("last")].gap_ns, expected.at(static_cast<std::size_t>(estimate)));
    EXPECT_EQ(edited.ranks[0].ops[hopper.op("first")].gap_ns, hopper.graph.ranks[0].ops[hopper.op("first")].gap_ns);
  }
  EXPECT_THAT(found_in(Replayed(trace_of(8))), IsEmpty());
}

// The product takes over the addition; then there is nothing left that the norm could be fused with, and it stays.
TEST(Kinds, TakeOverTheSameWorkOnce) {
  const Trace trace = trace_of_step([](HandStep& step) { step.kernel(kGemm, 100).kernel(kAdd, 40).kernel(kNorm, 10); });
  const RunFacts run(trace, {});
  const Advisor advisor(run, {});
  EXPECT_THAT(usual_changes(advisor.advice()), testing::UnorderedElementsAre("epilogue-1", "fusion-1"));
  EXPECT_EQ(advisor.simulate({"epilogue-1", "fusion-1"}), advisor.simulate({"epilogue-1"}));
}

// The product takes over the addition, which is the longest; of the norm and the copy one kernel is left: 30 and 15 %
// of 10.
TEST(Fusion, IsOfWhatEarlierChangesLeave) {
  Candidates run([](HandStep& step) { step.kernel(kGemm, 100).kernel(kAdd, 40).kernel(kNorm, 30).kernel(kCat, 10); });
  const std::vector<Change> found = find_fusions(run.work());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(run.time_of(kNorm, {find_epilogues(run.work()).at(0), found[0]}), DoubleNear(31.5, 1e-9));
  EXPECT_EQ(run.time_of(kCat, {find_epilogues(run.work()).at(0), found[0]}), 0);
}

}  // namespace
}  // namespace swinscope::test
