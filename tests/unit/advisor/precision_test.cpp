// What other precisions of products save, by rates that are worked out by hand.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "advisor/advice.h"
#include "advisor/candidates/channels_last.h"
#include "store/error.h"
#include "tests/unit/advisor/candidates.h"

namespace swinscope::test {
namespace {

using testing::Contains;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Precision, TakesTheMeasuredRatesOfBoth) {
  Candidates run([](HandStep& step) {
    step.kernel(kGemm, 190, {}, layer("fp32"))
        .kernel(kGemm, 80, {}, layer("bf16"))
        .kernel(kGemm, 60, {}, layer("fp16"));
  });
  const Rates rates = Rates::parse(kRates, "test.json");
  run.work().set_rates(rates);
  const std::vector<Change> found = find_precisions(run.work());
  ASSERT_THAT(found, SizeIs(3));  // bf16 has no rates
  EXPECT_EQ(found[0].id, "precision-fp32-tf32");
  EXPECT_EQ(found[0].kind, "precision");
  EXPECT_EQ(found[0].title, "Compute products in tf32 instead of fp32 (once a step)");
  EXPECT_EQ(found[0].assumptions.at(0), "each product gets faster as the table of Test GPU says (test.json)");
  EXPECT_THAT(found[0].accuracy, HasSubstr("10 bits of mantissa"));
  EXPECT_THAT(found[0].evidence, SizeIs(1));
  EXPECT_EQ(found[0].evidence[0], found[0].scaled.at(0).op);
  expect_factors(found[0].scaled[0], {0.625, 0.5, 0.425});
  EXPECT_EQ(found[1].id, "precision-fp32-fp16");
  EXPECT_EQ(found[1].evidence, found[0].evidence);
  expect_factors(found[1].scaled.at(0), {0.3125, 0.25, 0.2125});
  EXPECT_EQ(found[2].id, "precision-fp16-fp8");
  expect_factors(found[2].scaled.at(0), {(1.25 * 25 + 4) / 50, 25.0 / 50, 0.85 * 25 / 50});
}

// 100 bytes a nanosecond from 300,000 on; up to there 3 us.
Rates flat_rates() {
  std::string text = kRates;
  const std::string steep = R"({"bytes": 65536, "ns": 4000}, {"bytes": 1048576, "ns": 16000})";
  text.replace(text.find(steep), steep.size(),
               R"({"bytes": 65536, "ns": 3000}, {"bytes": 300000, "ns": 3000}, {"bytes": 3000000, "ns": 30000})");
  return Rates::parse(text, "test.json");
}

// A program with kernels of its own rounds where it writes: no casts, and of 400,000 bytes that a normalization moves
// the 200,000 that a product reads become half. What PyTorch launches casts apart, half of the time; a training needs
// its values in two forms, and rounds its weights in each step.
TEST(Precision, OfEightBitsIsRoundedByWhatMakesTheInput) {
  const Rates rates = flat_rates();
  constexpr std::string_view kMoves =
      R"("class": "norm", "precision": "fp16", "bytes_read": 200000, "bytes_written": 200000)";
  const auto fp8_of = [&](const std::function<void(HandStep&)>& make, std::size_t places) {
    Candidates run(make);
    run.work().set_rates(rates);
    std::vector<Change> found = find_precisions(run.work());
    EXPECT_THAT(found, SizeIs(1));
    EXPECT_EQ(found.at(0).id, "precision-fp16-fp8");
    EXPECT_THAT(found[0].evidence, SizeIs(1));
    EXPECT_THAT(found[0].scaled, SizeIs(places));
    return found[0];
  };
  const auto make = [&](HandStep& step) {
    step.kernel(kNorm, 30, {}, kMoves)
        .kernel(kGemm, 60, {}, layer("fp16"))
        .kernel(kNorm, 30, {}, kMoves)
        .kernel(kAdd, 9);
  };
  const Change own = fp8_of(make, 2);
  expect_factors(own.scaled[0], {1, 0.75, 0.75});
  expect_factors(own.scaled[1], {(1.25 * 25 + 3) / 50, 25.0 / 50, 0.85 * 25 / 50});
  EXPECT_EQ(own.assumptions.at(1),
            "what makes their inputs rounds them, and writes half of the bytes; attention reads 8 bits, too");
  const Change trained = fp8_of([&](HandStep& step) { make(step.phase("backward")); }, 1);
  expect_factors(trained.scaled[0], {(1.25 * 25 + 3) / 50, (25.0 + 1.5) / 50, 0.85 * 25 / 50});
  const Change of_torch = fp8_of(
      [&](HandStep& step) {
        step.kernel_of("aten::mm",
                       R"({"input_dims": [[64, 256], [256, 1024]], "input_types": ["c10::Half", "c10::Half"]})", kGemm,
                       60);
      },
      1);
  expect_factors(of_torch.scaled[0], {(1.25 * 25 + 3) / 50, (25.0 + 1.5) / 50, 0.85 * 25 / 50});
  EXPECT_EQ(of_torch.assumptions.at(1), "half of the casts of the inputs become part of other kernels");
}

Change fp8_by_flat_rates(const std::function<void(HandStep&)>& make) {
  Candidates run(make);
  const Rates rates = flat_rates();
  run.work().set_rates(rates);
  std::vector<Change> found = find_precisions(run.work());
  EXPECT_THAT(found, SizeIs(1));
  return found.at(0);
}

std::string moves(std::string_view kind, std::int64_t read, std::int64_t written) {
  return fmt::format(R"("class": "{}", "precision": "fp16", "bytes_read": {}, "bytes_written": {})", kind, read,
                     written);
}

// Few bytes take as long as half of them. What adds a residual (it reads two tensors as large as its result) keeps that
// in 16 bits for later layers, and writes another one beside it. Libraries clear their workspace before a product.
TEST(Precision, OfEightBitsSavesWhatTheBytesOfItsMakersTake) {
  const auto factor_of = [](const std::string& payload) {
    const Change change = fp8_by_flat_rates(
        [&](HandStep& step) { step.kernel(kNorm, 30, {}, payload).set(1).kernel(kGemm, 60, {}, layer("fp16")); });
    EXPECT_THAT(change.scaled, SizeIs(2));
    return change.scaled.at(0);
  };
  expect_factors(factor_of(moves("norm", 300000, 300000)), {1, 0.75, 0.75});
  expect_factors(factor_of(moves("norm", 1000, 1000)), {1, 1, 0.75});
  // 7,000 of 6,000 ns.
  expect_factors(factor_of(moves("norm", 400000, 200000)), {7.0 / 6, 7.0 / 6, 1});
}

// Its 600,000 bytes take 6 us. Of its result half of the bytes take 4.5, of all that it moves 3, where a product
// before it hands it 8 bits; what else it takes stays.
TEST(Precision, OfEightBitsMakesAttentionFasterByItsBytes) {
  const auto factor_of = [](std::int64_t duration, bool is_behind_product) {
    const Change change = fp8_by_flat_rates([&](HandStep& step) {
      if (is_behind_product) step.kernel(kGemm, 60, {}, layer("fp16"));
      step.kernel("attention_kernel", duration, {}, moves("attention", 300000, 300000))
          .kernel(kGemm, 60, {}, layer("fp16"));
    });
    EXPECT_THAT(change.scaled, SizeIs(is_behind_product ? 3 : 2));
    return change.scaled.at(is_behind_product ? 1 : 0);
  };
  expect_factors(factor_of(8, false), {1, 6.5 / 8, 0.75});
  expect_factors(factor_of(30, false), {1, 28.5 / 30, 0.75});
  expect_factors(factor_of(30, true), {1, 27.0 / 30, 0.5});
  expect_factors(factor_of(4, true), {1, 0.5, 0.5});
}

// `swin quantize` says which layers stay in fp16: their products, what makes their inputs, and attention's reading of
// what they make.
TEST(Precision, StaysWhereLayersAreKept) {
  const auto make = [](HandStep& step) {
    step.at("stage1.block2.norm1").kernel(kNorm, 30, {}, moves("norm", 300000, 300000));
    step.at("stage1.block2.attn.qkv").kernel(kGemm, 60, {}, layer("fp16"));
    step.at("stage1.block2.attn.window").kernel("attention_kernel", 30, {}, moves("attention", 300000, 300000));
    step.at("stage1.block2.attn.proj").kernel(kGemm, 60, {}, layer("fp16"));
  };
  Candidates run(make);
  const Rates rates = flat_rates();
  run.work().set_rates(rates);
  EXPECT_THAT(find_precisions(run.work()).at(0).scaled, SizeIs(4));
  EXPECT_THAT(run.work().keep_precision({"stage1.attn.qkv", "stage2.attn.qkv", "attn.stage1", "stage1.block"}),
              ElementsAre("stage2.attn.qkv", "attn.stage1", "stage1.block"));
  const std::vector<Change> found = find_precisions(run.work());
  ASSERT_THAT(found, SizeIs(1));
  ASSERT_THAT(found[0].scaled, SizeIs(2));  // attention, which rounds for proj, and proj
  expect_factors(found[0].scaled[0], {1, 28.5 / 30, 0.75});
  EXPECT_EQ(found[0].evidence, std::vector<OpRef>{found[0].scaled[1].op});
  EXPECT_THAT(found[0].assumptions, Contains("products of the layers that were named stay in fp16 (once a step)"));
  const auto with_kept = [&](const std::string& layer) {
    Candidates again(make);
    again.work().set_rates(rates);
    EXPECT_THAT(again.work().keep_precision({layer}), IsEmpty());
    return find_precisions(again.work()).at(0).scaled;
  };
  const std::vector<Scaled> without_proj = with_kept("attn.proj");
  ASSERT_THAT(without_proj, SizeIs(3));  // the normalization, qkv, and attention, which reads 8 bits
  expect_factors(without_proj[2], {1, 28.5 / 30, 0.75});
}

// x and w have 557,056 bytes and y 131,072, of which the half is 655.36 ns: less, or where a residual is added, more.
// That one is read in 16 bits as before, in 1,310.72 ns.
TEST(Precision, OfEightBitsRoundsAResultThatTheNextProductReads) {
  const auto factor_of = [](std::int64_t read, std::string_view next) {
    const Change change = fp8_by_flat_rates([&](HandStep& step) {
      step.kernel(kGemm, 60, {}, fmt::format(R"({}, "bytes_read": {}, "bytes_written": 131072)", layer("fp16"), read));
      step.kernel(next, 60, {}, next == kGemm ? layer("fp16") : moves("attention", 300000, 300000));
    });
    return change.scaled.at(0);
  };
  const auto expected = [](double then, double residual = 0) {
    const double now = 50 + residual;
    return std::array<double, 3>{(1.25 * then + residual + 3) / now, (then + residual) / now,
                                 (0.85 * then + residual) / now};
  };
  expect_factors(factor_of(557056, kGemm), expected(25 - 0.65536));
  expect_factors(factor_of(557056, "attention_kernel"), expected(25 - 0.65536));
  expect_factors(factor_of(557056, kNorm), expected(25));
  expect_factors(factor_of(557056 + 131072, kGemm), expected(25 + 0.65536, 1.31072));
}

// By the best rate of the table these products would take 34 ns of 50 us: they have too few rows. The table's takes 25
// in 8 bits: who takes 24 in 16 gains nothing for sure, and who takes 40, less than the table's 50, gets as fast as the
// table's. Where the best rate is theirs all take half.
TEST(Precision, OfEightBitsGetsNoFasterThanTheTablesWithFewRows) {
  Candidates run([](HandStep& step) {
    for (const std::int64_t us : {24, 40, 60})
      step.kernel(kGemm, us, {}, layer("fp16"));
  });
  const auto factors_by = [&](const std::string& table) {
    const Rates rates = Rates::parse(table, "test.json");
    run.work().set_rates(rates);
    const std::vector<Change> found = find_precisions(run.work());
    EXPECT_THAT(found, SizeIs(1));
    return found.at(0).scaled;
  };
  std::string with_larger = kRates;
  constexpr std::string_view kFp16 = R"("fp16": [)";
  with_larger.insert(with_larger.find(kFp16) + kFp16.size(),
                     R"({"batch": 1, "m": 8192, "n": 8192, "k": 8192, "ns": 1099511.6},)");
  const double least = (1.25 * 25 + 4) / 50, most = 0.85 * 25 / 50;
  const std::vector<Scaled> few = factors_by(with_larger);
  expect_factors(few.at(0), {least, 1, most});
  expect_factors(few.at(1), {least, 25.0 / 40, most});
  expect_factors(few.at(2), {least, 0.5, most});
  for (const Scaled& scaled : factors_by(kRates))
    expect_factors(scaled, {least, 0.5, most});
}

// The table's integers write 32-bit sums in 45 us; what scales them takes the 25 of fp8. Casts as of fp8.
TEST(Precision, OfIntegersIsThatOfProductsThatScaleTheirSums) {
  Candidates run([](HandStep& step) { step.kernel(kGemm, 60, {}, layer("fp16")); });
  std::string with_integers = kRates;
  with_integers.insert(with_integers.rfind("}}"),
                       R"(, "int8": [{"batch": 1, "m": 64, "n": 1024, "k": 256, "ns": 45000}])");
  const Rates rates = Rates::parse(with_integers, "test.json");
  run.work().set_rates(rates);
  const std::vector<Change> found = find_precisions(run.work());
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].id, "precision-fp16-fp8");
  EXPECT_EQ(found[1].id, "precision-fp16-int8");
  EXPECT_EQ(found[1].title, "Compute products in int8 instead of fp16 (once a step)");
  EXPECT_EQ(found[1].alternative, found[0].alternative);
  EXPECT_EQ(found[1].confidence, Confidence::kSpeculative);
  EXPECT_THAT(found[1].accuracy, HasSubstr("scales for each channel"));
  expect_factors(found[1].scaled.at(0), {(1.25 * 25 + 4) / 50, 25.0 / 50, 0.85 * 25 / 50});
}

// Gradients span more powers of two than an integer has.
TEST(Precision, IsNotOfIntegersWhereGradientsAreComputed) {
  std::string with_integers = kRates;
  with_integers.insert(with_integers.rfind("}}"),
                       R"(, "int8": [{"batch": 1, "m": 64, "n": 1024, "k": 256, "ns": 25000}])");
  const Rates rates = Rates::parse(with_integers, "test.json");
  const auto found_in = [&](std::string_view phase) {
    Candidates run([&](HandStep& step) { step.phase(phase).kernel(kGemm, 60, {}, layer("fp16")); });
    run.work().set_rates(rates);
    return find_precisions(run.work()).size();
  };
  EXPECT_EQ(found_in("forward"), 2U);
  EXPECT_EQ(found_in("backward"), 1U) << "fp8";
}

// The sums of a product's parts are part of its time, and no kernel of their own in another precision: a quarter of
// both.
TEST(Precision, IsOfAProductWithTheSumsOfItsParts) {
  for (const std::string_view sums :
       {"void cublasLt::splitKreduce_kernel<32>(int)", "sm80_xmma_gemm_execute_split_k_kernel__5x_cublas"}) {
    Candidates run([&](HandStep& step) {
      step.kernel(kGemm, 190, {}, layer("fp32")).kernel(sums, 10, {}, layer("fp32")).kernel(kNorm, 90);
    });
    const Rates rates = Rates::parse(kRates, "test.json");
    run.work().set_rates(rates);
    const std::vector<Change> found = find_precisions(run.work());
    ASSERT_THAT(found, SizeIs(2));
    EXPECT_EQ(found[1].id, "precision-fp32-fp16");
    ASSERT_THAT(found[1].scaled, SizeIs(1));
    EXPECT_THAT(run.names(found[1].removed()), ElementsAre(sums));
    EXPECT_THAT(run.times(found[1])[1], DoubleNear(50, 1e-9));
  }
}

// With 16 bits, what lies between moves half the bytes: not what a softmax reads, and nothing of the optimizer.
TEST(Precision, HalvesTheBytesBetweenProducts) {
  const std::string fp32 = R"("class": "other", "precision": "fp32")";
  Candidates run([&](HandStep& step) {
    step.phase("forward").kernel(kGemm, 190, {}, layer("fp32")).kernel(kAdd, 40, {}, fp32);
    step.kernel(kMul, 40, {}, fp32).kernel(kSoftmax, 40, {}, fp32).kernel(kCat, 40, {}, fp32).kernel(kAdd, 40);
    step.phase("optimizer").kernel(kAdd, 40, {}, fp32);
  });
  const Rates rates = Rates::parse(kRates, "test.json");
  run.work().set_rates(rates);
  const std::vector<Change> found = find_precisions(run.work());
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_THAT(found[0].scaled, SizeIs(1)) << "TF32 is of products alone";
  EXPECT_THAT(run.names(found[1].evidence), ElementsAre(kGemm));
  ASSERT_THAT(found[1].scaled, SizeIs(5));
  expect_factors(found[1].scaled[1], {0.7, 0.5, 0.45});
  expect_factors(found[1].scaled[2], {1, 1, 0.5});
  expect_factors(found[1].scaled[3], {1, 0.95, 0.5});
  expect_factors(found[1].scaled[4], {0.7, 0.5, 0.45});
}

// 16 MB at 65,536 bytes in 4 us and 1 MB in 16 (the largest rate, 65.536 bytes a ns): 256 us; in 16 bits half of that.
TEST(Precision, HalvesWhatALaterChangeMoves) {
  const std::string norm = R"("class": "norm", "precision": "fp32", "bytes_read": 8388608, "bytes_written": 8388608)";
  Candidates run([&](HandStep& step) { step.kernel(kGemm, 190, {}, layer("fp32")).kernel(kNorm, 800, {}, norm); });
  const Rates rates = Rates::parse(kRates, "test.json");
  run.work().set_rates(rates);
  const std::vector<Change> slow = find_slow_kernels(run.work());
  ASSERT_THAT(slow, SizeIs(1));
  EXPECT_THAT(run.times(slow[0]), ElementsAre(512, 320, 256));
  const std::vector<Change> precisions = find_precisions(run.work());
  ASSERT_THAT(precisions, SizeIs(2));
  EXPECT_THAT(run.times(slow[0], {precisions[0]}), ElementsAre(512, 320, 256)) << "TF32 is as wide";
  EXPECT_THAT(run.times(slow[0], {precisions[1]}), ElementsAre(256, 160, 128));
}

// 16 images of 64 x 64 pixels and 32 filters of 3 x 3: 65,536, 4,608 and 131,072 values of 2 bytes, each read and
// written.
TEST(ChannelsLast, ConvolutionsAreTransposedAround) {
  const Rates rates = Rates::parse(kRates, "test.json");
  const auto moved_ns = [&](double values) { return *rates.bytes_ns(4 * values); };
  OperationPayload what;
  what.precision = "fp32";
  what.input_shape = {4096, 144};
  what.output_shape = {4096, 32};
  what.flops = std::int64_t{2} * 4096 * 144 * 32;
  what.bytes_read = std::int64_t{4} * (65'536 + 4'608);
  what.bytes_written = std::int64_t{4} * 131'072;
  WorkItem item;
  item.kind = OperationKind::kConv;
  item.kernel = item.full_name = "implicit_gemm_nchwkcrs_nchw";
  item.what = &what;
  EXPECT_DOUBLE_EQ(kernels_beside_ns(item, rates), moved_ns(65'536) + moved_ns(4'608) + moved_ns(131'072));
  item.full_name = "implicit_gemm_nhwckrsc_nhwc";
  EXPECT_EQ(kernels_beside_ns(item, rates), 0) << "its channels lie side by side already";

  item.full_name = item.kernel;
  OperationPayload backward = what;
  backward.flops *= 2;
  backward.bytes_read = std::int64_t{4} * (2 * 131'072 + 65'536 + 4'608);
  backward.bytes_written = std::int64_t{4} * (65'536 + 4'608);
  item.what = &backward;
  EXPECT_DOUBLE_EQ(kernels_beside_ns(item, rates), moved_ns(131'072) + 2 * moved_ns(65'536) + 2 * moved_ns(4'608));

  OperationPayload pixels = what;  // filters of single pixels are a product of the images as they lie
  pixels.input_shape = {4096, 16};
  pixels.flops = std::int64_t{2} * 4096 * 16 * 32;
  pixels.bytes_read = std::int64_t{4} * (65'536 + 512);
  item.what = &pixels;
  EXPECT_EQ(kernels_beside_ns(item, rates), 0);
}

// Products of 64 x 256 and 256 x 1024, by filters of 8 x 8 pixels and 4 channels or, with those of 16 x 16 and 1, of
// one channel.
TEST(Precision, ConvolutionsOfFewChannelsStay) {
  const auto inputs = [](int channels, int pixels) {
    return fmt::format(R"({{"input_dims":[[1,{0},{1},{1}],[1024,{0},{2},{2}]],"input_types":["float","float"],)"
                       R"("concrete_inputs":["","","[0, 0]","[{2}, {2}]","[1, 1]"]}})",
                       channels, 8 * pixels, pixels);
  };
  Candidates run([&](HandStep& step) {
    step.kernel_of("aten::cudnn_convolution", inputs(4, 8), "sgemm_of_four", 190)
        .kernel_of("aten::cudnn_convolution", inputs(1, 16), "sgemm_of_one", 190);
  });
  const Rates rates = Rates::parse(kRates, "test.json");
  run.work().set_rates(rates);
  for (const Change& change : find_precisions(run.work())) {
    EXPECT_THAT(run.names(change.evidence), ElementsAre("sgemm_of_four")) << change.id;
    EXPECT_THAT(change.scaled, SizeIs(1)) << change.id;
    EXPECT_THAT(change.assumptions,
                testing::Contains(HasSubstr("fewer than 4 channels take as long, tensor cores do not "
                                            "have them (once a step)")))
        << change.id;
    EXPECT_LT(run.time_of("sgemm_of_four", {change}), 190) << change.id;
    EXPECT_EQ(run.time_of("sgemm_of_one", {change}), 190) << change.id;
  }
  EXPECT_THAT(find_precisions(run.work()), SizeIs(2)) << "TF32 and 16 bits";
}

TEST(Precision, NeedsTheShapeOfAProduct) {
  Candidates run([](HandStep& step) {
    step.kernel(kGemm, 190).kernel(kGemm, 190, {}, R"("class": "gemm", "precision": "fp32", "flops": 33554432)");
  });
  const Rates rates = Rates::parse(kRates, "test.json");
  run.work().set_rates(rates);
  EXPECT_THAT(find_precisions(run.work()), IsEmpty());
}

// A product is computed in one precision: of two that can be had, the one that saves most is meant.
TEST(Precision, AlternativesExcludeEachOther) {
  const std::string peaks = testing::TempDir() + "swinscope_alternatives.json";
  std::ofstream(peaks) << kRates;
  const Trace trace = trace_of_step([](HandStep& step) { step.kernel(kGemm, 190, {}, layer("fp32")); });
  const RunFacts run(trace, {});
  AdviceOptions options;
  options.peaks = peaks;
  const Advisor advisor(run, options);
  EXPECT_THAT(usual_changes(advisor.advice()), ElementsAre("precision-fp32-fp16"));
  try {
    (void)advisor.simulate({"precision-fp32-tf32", "precision-fp32-fp16"});
    FAIL() << "both were applied";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("exclude each other"));
  }
  std::filesystem::remove(peaks);
}

TEST(Precision, IsNotFoundWithoutRates) {
  Candidates run([](HandStep& step) { step.kernel(kGemm, 190, {}, layer("fp32")); });
  EXPECT_THAT(find_precisions(run.work()), IsEmpty());
}

}  // namespace
}  // namespace swinscope::test
