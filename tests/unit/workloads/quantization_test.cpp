// Which range of numbers a layer's input is rounded by, from counts of magnitudes; and weights in 8 bits as a file.
#include "workloads/quantization.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/workloads/subprocess.h"
#include "workloads/error.h"
#include "workloads/quantized_weights.h"
#include "workloads/redraw.h"
#include "workloads/safetensors_writer.h"
#include "workloads/weights.h"

namespace swinscope {
namespace {

using testing::HasSubstr;

int bin_of(double magnitude) {
  int bin = 0;
  while (magnitude_at(bin + 1) <= magnitude)
    ++bin;
  return bin;
}

MagnitudeCounts counts_of(std::initializer_list<std::pair<double, std::uint32_t>> magnitudes) {
  MagnitudeCounts counts{};
  for (const auto& [magnitude, count] : magnitudes)
    counts.at(static_cast<std::size_t>(bin_of(magnitude))) += count;
  return counts;
}

TEST(Ranges, BinsAreThoseOfHalfPrecision) {
  EXPECT_EQ(magnitude_at(0), 0.0);
  EXPECT_EQ(magnitude_at(64), std::ldexp(1.0, -14));  // the smallest normal number
  EXPECT_EQ(magnitude_at(15 * 64), 1.0);
  EXPECT_EQ(magnitude_at(15 * 64 + 32), 1.5);
  EXPECT_EQ(magnitude_at(kFirstInfiniteBin), 65536.0);
}

TEST(Ranges, MinMaxEndsBehindTheLargest) {
  EXPECT_EQ(range_of("layer", counts_of({{1.0, 1000}, {6.0, 1}}), Observer::kMinMax, ByteFormat::kE4m3),
            6.0625F);  // the bin's end
  EXPECT_EQ(range_of("layer", counts_of({{0.0, 10}}), Observer::kMinMax, ByteFormat::kE4m3), 0.0F);
}

TEST(Ranges, PercentileLeavesOutOneInTenThousand) {
  const MagnitudeCounts counts = counts_of({{1.0, 99995}, {100.0, 5}});
  EXPECT_FLOAT_EQ(range_of("layer", counts, Observer::kPercentile, ByteFormat::kE4m3),
                  static_cast<float>(1.0 + 1.0 / 64.0));
  EXPECT_GT(range_of("layer", counts, Observer::kMinMax, ByteFormat::kE4m3), 100.0F);
}

// Most of these are rounded least where their magnitude is a number of the format.
TEST(Ranges, MseTakesWhatIsRoundedLeast) {
  const MagnitudeCounts counts = counts_of({{1.0, 100000}, {1.3, 10}});
  for (const ByteFormat format : {ByteFormat::kE4m3, ByteFormat::kInt8}) {
    const auto error = [&](Observer observer) {
      const float scale = byte_scale(format, range_of("layer", counts, observer, format));
      double sum = 0.0;
      for (int bin = 1; bin < kFirstInfiniteBin; ++bin) {
        const auto middle = static_cast<float>((magnitude_at(bin) + magnitude_at(bin + 1)) / 2.0);
        const float rounded = scale * from_byte(format, to_byte(format, middle / scale));
        sum += std::pow(static_cast<double>(middle - rounded), 2) * counts.at(static_cast<std::size_t>(bin));
      }
      return sum;
    };
    EXPECT_LT(error(Observer::kMse), error(Observer::kMinMax));
  }
}

TEST(Ranges, WhatIsNotFiniteIsNamed) {
  MagnitudeCounts counts = counts_of({{1.0, 10}});
  counts.at(kMagnitudeBins - 1) = 1;
  try {
    (void)range_of("stage3.block5.mlp.fc2", counts, Observer::kMinMax, ByteFormat::kE4m3);
    FAIL() << "a range of infinities";
  } catch (const WorkloadError& error) {
    EXPECT_THAT(error.what(), HasSubstr("stage3.block5.mlp.fc2"));
  }
}

TEST(QuantizedWeights, LayersHaveTheirWeights) {
  EXPECT_EQ(weight_of_layer("stage3.block5.attn.qkv"), "layers.2.blocks.4.attn.qkv.weight");
  EXPECT_EQ(weight_of_layer("stage1.block2.mlp.fc1"), "layers.0.blocks.1.mlp.fc1.weight");
  EXPECT_EQ(weight_of_layer("stage1.block2.attn.window"), "");  // attention has none
  EXPECT_EQ(weight_of_layer("head.fc"), "");
}

class QuantizedFile : public testing::TestWithParam<Precision> {
 protected:
  QuantizedFile() : config(find_model("swin_nano")), store(config, false) {
    redraw_parameters(store, 7);
    quantization = {
        "swin_nano", "mse", 64, {{"stage1.block1.mlp.fc1", 3.0F}, {"stage2.block2.attn.window", 5.0F}}, GetParam()};
    write_quantized_weights(file, quantization, store);
  }
  test::TemporaryFolder folder;
  std::filesystem::path file = folder.path() / "q.safetensors";
  SwinConfig config;
  ParameterStore<float> store;
  Quantization quantization;
};

TEST_P(QuantizedFile, ComesBackRounded) {
  const SafetensorsFile read(file);
  const auto found = quantization_in(read);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->ranges, quantization.ranges);
  EXPECT_EQ(found->model, "swin_nano");
  EXPECT_EQ(found->images, 64);
  EXPECT_EQ(found->precision, GetParam());
  const bool integers = GetParam() == Precision::kInt8;
  EXPECT_EQ(read.find("layers.0.blocks.0.mlp.fc1.weight")->type_name, integers ? "I8" : "F8_E4M3");
  ParameterStore<float> loaded(config, false);
  load_weights(read, loaded);
  for (const ParameterInfo& tensor : store.layout().tensors()) {
    const std::span<float> before = store.values(tensor), after = loaded.values(tensor);
    if (tensor.name != "layers.0.blocks.0.mlp.fc1.weight") {
      EXPECT_TRUE(std::ranges::equal(before, after)) << tensor.name;
      continue;
    }
    // Half a step at most: of integers up to the row's largest, or of three bits of mantissa.
    const std::size_t inputs = before.size() / static_cast<std::size_t>(tensor.shape.front());
    for (std::size_t i = 0; i < before.size(); ++i) {
      float largest = 0.0F;
      for (const float value : before.subspan(i / inputs * inputs, inputs))
        largest = std::max(largest, std::fabs(value));
      const float most = integers ? largest / 253.0F : std::fabs(before[i]) / 16.0F + 1e-4F;
      EXPECT_LE(std::fabs(after[i] - before[i]), most);
    }
    EXPECT_FALSE(std::ranges::equal(before, after));
  }
}

// What was rounded is rounded to itself: the file of a file is the same.
TEST_P(QuantizedFile, RoundingAgainChangesNothing) {
  ParameterStore<float> once(config, false), twice(config, false);
  load_weights(SafetensorsFile(file), once);
  const std::filesystem::path again = folder.path() / "again.safetensors";
  write_quantized_weights(again, quantization, once);
  load_weights(SafetensorsFile(again), twice);
  EXPECT_TRUE(std::ranges::equal(once.values(), twice.values()));
}

TEST_P(QuantizedFile, WeightsOfAnotherModelAreRefused) {
  ParameterStore<float> other(find_model("swin_tiny"), false);
  EXPECT_THROW(load_weights(SafetensorsFile(file), other), WorkloadError);
}

TEST_P(QuantizedFile, TheOtherPrecisionIsRefused) {
  const auto found = quantization_in(SafetensorsFile(file));
  EXPECT_EQ(ranges_for(GetParam(), *found, file), quantization.ranges);
  const bool integers = GetParam() == Precision::kInt8;
  try {
    (void)ranges_for(integers ? Precision::kFp8 : Precision::kInt8, *found, file);
    FAIL() << "ranges of the other precision";
  } catch (const WorkloadError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr(integers ? "--precision fp8: the weights in" : "--precision int8: the weights"));
  }
}

TEST(QuantizedWeights, AnUnknownPrecisionIsRefused) {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "q.safetensors";
  write_safetensors(file, {},
                    {{"swinscope.quantization",
                      R"({"schema": "swinscope.quantization/1", "model": "m", "precision": "fp4", "observer": "mse",
                          "images": 1, "ranges": {}})"}});
  try {
    (void)quantization_in(SafetensorsFile(file));
    FAIL() << "a precision that nobody knows";
  } catch (const WorkloadError& error) {
    EXPECT_EQ(error.kind(), WorkloadErrorKind::kInput);
    EXPECT_THAT(error.cause(), HasSubstr("fp4"));
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, QuantizedFile, testing::Values(Precision::kFp8, Precision::kInt8),
                         [](const auto& precision) { return precision.param == Precision::kFp8 ? "Fp8" : "Int8"; });

}  // namespace
}  // namespace swinscope
