#include "workloads/models/model_table.h"

#include <string>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workloads/error.h"
#include "workloads/model_cost.h"
#include "workloads/parameters.h"

namespace swinscope {
namespace {

// Parameters as timm counts them (sum of p.numel()), with 1000 classes; GFLOP per image at the model's size, twice the
// multiply-adds, to the two decimals of the roofline study.
struct Published {
  const char* model;
  std::int64_t parameters;
  double gflop;
  double stages[kMaxStages];
};

constexpr Published kPublished[] = {
    {"swin_tiny", 28288354, 8.98, {1.62, 1.56, 4.37, 1.40}},
    {"swin_small", 49606258, 17.48, {1.62, 1.56, 12.87, 1.40}},
    {"swin_base", 87768224, 30.86, {2.83, 2.75, 22.76, 2.49}},
    {"swin_large", 196532476, 68.95, {6.25, 6.13, 50.94, 5.58}},
    {"swinv2_tiny", 28347154, 11.84, {2.16, 2.06, 5.74, 1.84}},
    {"swinv2_small", 49728418, 23.02, {2.16, 2.06, 16.91, 1.84}},
    {"swinv2_base", 87918816, 40.55, {3.76, 3.62, 29.86, 3.25}},
    {"swinv2_large", 196739932, 90.42, {8.25, 8.05, 66.74, 7.30}},
};

class PublishedFigures : public testing::TestWithParam<Published> {};

TEST_P(PublishedFigures, AreWhatTheTableGives) {
  const SwinConfig& config = find_model(GetParam().model);
  const ModelCost cost = model_cost(config);
  EXPECT_EQ(cost.parameters(), GetParam().parameters);
  EXPECT_NEAR(static_cast<double>(cost.flops()) * 1e-9, GetParam().gflop, 0.005);
  for (std::size_t i = 0; i < kMaxStages; ++i) {
    EXPECT_NEAR(static_cast<double>(cost.stages[i].flops) * 1e-9, GetParam().stages[i], 0.005) << "stage " << i + 1;
  }
}

TEST_P(PublishedFigures, TheLayoutHoldsAsManyParametersInBackwardOrder) {
  const ParameterLayout layout(find_model(GetParam().model));
  std::int64_t sum = 0;
  std::int64_t end = layout.flat_count();
  for (const ParameterInfo& tensor : layout.tensors()) {
    sum += tensor.count;
    EXPECT_LE(tensor.offset + tensor.count, end) << tensor.name;
    EXPECT_EQ(tensor.offset % ParameterLayout::kAlignment, 0) << tensor.name;
    end = tensor.offset;
  }
  EXPECT_EQ(end, 0);
  EXPECT_EQ(sum, GetParam().parameters);
}

INSTANTIATE_TEST_SUITE_P(Models, PublishedFigures, testing::ValuesIn(kPublished),
                         [](const auto& published) { return std::string(published.param.model); });

TEST(ModelTable, FourTimesThePixelsAreFourTimesTheWorkForV2) {
  SwinConfig config = find_model("swinv2_base");
  const std::int64_t small = model_cost(config).flops() - model_cost(config).head.flops;
  config.image_size = 512;
  EXPECT_EQ(model_cost(config).flops() - model_cost(config).head.flops, 4 * small);
}

// The figures of the roofline study for a head of 512 channels and 150 classes at 512 pixels.
TEST(ModelTable, TheSegmentationHeadCostsWhatItsOperationsDo) {
  for (const auto& [name, gflop, millions] :
       {std::tuple("swinv2_tiny", 425.0, 32.4), std::tuple("swinv2_base", 427.0, 34.5),
        std::tuple("swinv2_large", 431.0, 38.8)}) {
    SwinConfig config = find_model(name);
    config.image_size = 512;
    config.task = Task::kSegmentation;
    config.classes = 150;
    const ModelCost cost = model_cost(config);
    EXPECT_NEAR(static_cast<double>(cost.head.flops + cost.auxiliary.flops) * 1e-9, gflop, 0.6) << name;
    EXPECT_NEAR(static_cast<double>(cost.head.parameters + cost.auxiliary.parameters) * 1e-6, millions, 0.06) << name;
    EXPECT_EQ(cost.training_flops(), 3 * (cost.flops() + cost.auxiliary.flops)) << name;
    std::int64_t sum = 0;
    const ParameterLayout layout(config);
    for (const ParameterInfo& tensor : layout.tensors())
      sum += tensor.count;
    EXPECT_EQ(cost.parameters(), sum) << name;
  }
}

TEST(ModelTable, UnknownModelNamesTheNearest) {
  EXPECT_THAT(nearest_models("swin_tinny"), testing::ElementsAre("swin_tiny", "swinv2_tiny"));
  EXPECT_THAT(nearest_models("swinv2_bas"), testing::Contains("swinv2_base"));
  EXPECT_THAT(nearest_models("swin_bace").front(), "swin_base");
  EXPECT_THAT(nearest_models("resnet50"), testing::IsEmpty());
  try {
    find_model("swin_lage");
    FAIL() << "an unknown model was found";
  } catch (const WorkloadError& error) {
    EXPECT_EQ(error.kind(), WorkloadErrorKind::kUsage);
    EXPECT_STREQ(error.what(), "unknown model 'swin_lage'");
    EXPECT_THAT(error.hint(), testing::HasSubstr("swin_large"));
  }
}

TEST(ModelTable, AStageSmallerThanTheWindowIsOneWindowWithoutShift) {
  const SwinConfig& tiny = find_model("swin_tiny");
  EXPECT_EQ(stage_shape(tiny, 0).resolution, 56);
  EXPECT_EQ(stage_shape(tiny, 0).shift, 3);
  EXPECT_EQ(stage_shape(tiny, 3).window, 7);
  EXPECT_EQ(stage_shape(tiny, 3).shift, 0);
  SwinConfig small = tiny;
  small.image_size = 128;
  EXPECT_EQ(stage_shape(small, 3).window, 4);
  SwinConfig wide = tiny;
  wide.window = 14;
  EXPECT_EQ(stage_shape(wide, 0).window, 14);
  EXPECT_EQ(stage_shape(wide, 1).shift, 7);
  EXPECT_EQ(stage_shape(wide, 2).shift, 0);
}

TEST(ModelTable, RefusesSizesThatMergingsDoNotDivide) {
  SwinConfig config = find_model("swin_tiny");
  for (const int size : {0, 16, 200, 225}) {
    config.image_size = size;
    EXPECT_THROW(check_config(config), WorkloadError) << size;
  }
  config.image_size = 256;
  EXPECT_NO_THROW(check_config(config));
  for (const SwinConfig& model : model_table())
    EXPECT_NO_THROW(check_config(model)) << model.name;
}

}  // namespace
}  // namespace swinscope
