// All eight models against what timm computes in float64 (tests/peers/timm/export_fixtures.py made the fixtures):
// logits of two images, the loss, every parameter's gradient by its norm and by a signed sum, and gradient elements one
// by one. The weights are redrawn here from their names; checksums tell a generator that differs from a model that
// differs.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/workloads/loss_harness.h"
#include "workloads/safetensors.h"

namespace swinscope {
namespace {

using test::LossHarness;

constexpr double kTolerance = 1e-4;       // what fp32 must keep
constexpr double kTightTolerance = 3e-6;  // what fp64 must keep: the fixtures are rounded to fp32
constexpr std::uint64_t kGradientSamples = 64;
constexpr std::int64_t kWholeLimit = 128;

std::filesystem::path fixture_path(const std::string& model) {
  return std::filesystem::path(SWINSCOPE_SOURCE_DIR) / "tests/peers/timm/fixtures" / (model + ".safetensors");
}

// A fixture and what its metadata says.
struct Fixture {
  explicit Fixture(const std::string& model) : file(fixture_path(model)) {
    seed = std::stoull(file.metadata().at("seed"));
    labels = nlohmann::json::parse(file.metadata().at("labels")).get<std::vector<std::int32_t>>();
    smoothing = std::stod(file.metadata().at("label_smoothing"));
  }

  std::vector<double> tensor(const std::string& name) const {
    const TensorEntry* entry = file.find(name);
    if (entry == nullptr) throw std::out_of_range(name);
    std::vector<double> values(static_cast<std::size_t>(entry->count));
    file.read<double>(*entry, values);
    return values;
  }

  SafetensorsFile file;
  std::uint64_t seed = 0;
  std::vector<std::int32_t> labels;
  double smoothing = 0.0;
};

template <typename T>
double norm(std::span<const T> values) {
  return std::sqrt(std::accumulate(values.begin(), values.end(), 0.0, [](double sum, T value) {
    return sum + static_cast<double>(value) * static_cast<double>(value);
  }));
}

template <typename T>
double relative_error(std::span<const T> actual, const std::vector<double>& expected) {
  std::vector<double> difference(expected.size());
  std::transform(actual.begin(), actual.end(), expected.begin(), difference.begin(),
                 [](T a, double b) { return static_cast<double>(a) - b; });
  return norm<double>(difference) / norm<double>(expected);
}

template <typename T>
void expect_checksums(const Fixture& fixture, LossHarness<T>& harness) {
  std::map<std::string, std::uint64_t> sums;
  for (const ParameterInfo& tensor : harness.store().layout().tensors()) {
    const bool in_layers = tensor.name.starts_with("layers.");
    const std::string group =
        tensor.name.substr(0, tensor.name.find('.', in_layers ? std::string("layers.").size() : 0));
    sums[group] += redraw_checksum<T>(harness.store().values(tensor));
  }
  sums["input"] = redraw_checksum<T>(harness.images());
  const auto expected = nlohmann::json::parse(fixture.file.metadata().at("checksums"));
  ASSERT_EQ(expected.size(), sums.size());
  for (const auto& [group, sum] : sums) {
    const std::string in_fixture = expected.at(group);
    ASSERT_EQ(in_fixture, std::to_string(sum)) << "the redrawn weights differ in " << group;
  }
}

template <typename T>
void expect_stages(const Fixture& fixture, HostModel<T>& model, double tolerance) {
  const std::vector<double> expected = fixture.tensor("stages");
  std::vector<std::span<const T>> outputs = {model.output("stem")};
  for (int stage = 0; stage < kMaxStages; ++stage)
    outputs.push_back(model.output("stage" + std::to_string(stage + 1)));
  outputs.push_back(model.output("normalized"));
  ASSERT_EQ(expected.size(), 2 * outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const double mean =
        std::accumulate(outputs[i].begin(), outputs[i].end(), 0.0) / static_cast<double>(outputs[i].size());
    const double size = norm(outputs[i]);
    EXPECT_NEAR(size, expected[2 * i + 1], tolerance * size) << "output " << i;
    EXPECT_NEAR(mean, expected[2 * i], tolerance * size / std::sqrt(static_cast<double>(outputs[i].size())))
        << "output " << i;
  }
}

// Signed sums of a gradient's elements have the size of its norm, so errors are measured against that.
void expect_gradient_summary(const Fixture& fixture, LossHarness<double>& harness) {
  std::vector<std::string> names;
  for (const ParameterInfo& tensor : harness.store().layout().tensors())
    names.push_back(tensor.name);
  std::ranges::sort(names);
  const std::vector<double> expected = fixture.tensor("grad_summary");
  ASSERT_EQ(expected.size(), 2 * names.size());
  for (std::size_t row = 0; row < names.size(); ++row) {
    const ParameterInfo& tensor = harness.store().layout().find(names[row]);
    const std::span<const double> gradient = harness.store().gradients(tensor);
    const HashStream signs(names[row] + "#sign", fixture.seed);
    double projection = 0.0;
    for (std::size_t i = 0; i < gradient.size(); ++i)
      projection += (signs.bits(i) >> 63) != 0 ? -gradient[i] : gradient[i];
    const double size = norm(gradient);
    EXPECT_NEAR(size, expected[2 * row], kTolerance * expected[2 * row]) << names[row];
    EXPECT_NEAR(projection, expected[2 * row + 1], kTolerance * expected[2 * row]) << names[row];
  }
}

void expect_gradient_elements(const Fixture& fixture, LossHarness<double>& harness) {
  int compared = 0;
  for (const auto& [key, entry] : fixture.file.tensors()) {
    if (!key.starts_with("grad:")) continue;
    const ParameterInfo& tensor = harness.store().layout().find(key.substr(std::string("grad:").size()));
    const std::span<const double> gradient = harness.store().gradients(tensor);
    std::vector<double> picked(gradient.begin(), gradient.end());
    if (tensor.count > kWholeLimit) {
      const HashStream places(tensor.name + "#sample", fixture.seed);
      picked.resize(kGradientSamples);
      for (std::uint64_t i = 0; i < kGradientSamples; ++i) {
        picked[i] = gradient[places.bits(i) % static_cast<std::uint64_t>(tensor.count)];
      }
    }
    EXPECT_LT(relative_error<double>(picked, fixture.tensor(key)), kTolerance) << key;
    ++compared;
  }
  EXPECT_GT(compared, 40);
}

class TimmFixture : public testing::TestWithParam<const char*> {};

TEST_P(TimmFixture, Fp64LogitsLossAndGradientsAgree) {
  const Fixture fixture(GetParam());
  LossHarness<double> harness(find_model(GetParam()), fixture.labels, fixture.smoothing, fixture.seed);
  ASSERT_NO_FATAL_FAILURE(expect_checksums(fixture, harness));
  const double loss = harness.loss_and_gradients();
  EXPECT_LT(relative_error(harness.logits(), fixture.tensor("logits")), kTightTolerance);
  EXPECT_NEAR(loss, fixture.tensor("loss")[0], kTightTolerance * loss);
  expect_stages(fixture, harness.model(), kTightTolerance);
  expect_gradient_summary(fixture, harness);
  expect_gradient_elements(fixture, harness);
}

TEST_P(TimmFixture, Fp32InferenceAgrees) {
  const Fixture fixture(GetParam());
  const SwinConfig& config = find_model(GetParam());
  ParameterStore<float> store(config, false);
  redraw_parameters(store, fixture.seed);
  const auto batch = static_cast<std::int64_t>(fixture.labels.size());
  HostModel<float> model(config, batch, {}, store);
  model.weights_changed();
  const std::vector<float> images = test::redrawn_images<float>(config, batch, fixture.seed);
  const float* logits = model.forward(images.data()).main;
  const std::vector<double> expected = fixture.tensor("logits");
  EXPECT_LT(relative_error<float>({logits, expected.size()}, expected), kTolerance);
  expect_stages(fixture, model, kTolerance);
}

INSTANTIATE_TEST_SUITE_P(Models, TimmFixture,
                         testing::Values("swin_tiny", "swin_small", "swin_base", "swin_large", "swinv2_tiny",
                                         "swinv2_small", "swinv2_base", "swinv2_large"),
                         [](const auto& model) { return std::string(model.param); });

// Would the comparison notice? Any one block replaced by the identity must throw the logits far beyond the tolerance.
// (The larger models have the same blocks, only more and wider ones; the exporting script prints the same figure for
// all eight.)
class TimmSensitivity : public TimmFixture {};

TEST_P(TimmSensitivity, TheComparisonFailsWhenAnyBlockIsTheIdentity) {
  const Fixture fixture(GetParam());
  const SwinConfig& config = find_model(GetParam());
  std::vector<double> expected = fixture.tensor("logits");
  expected.resize(static_cast<std::size_t>(config.classes));  // of the first image
  ParameterStore<float> store(config, false);
  redraw_parameters(store, fixture.seed);
  const std::vector<float> images = test::redrawn_images<float>(config, 1, fixture.seed);
  const auto error_without = [&](const std::vector<BlockIndex>& blocks) {
    ModelOptions options;
    options.identity_blocks = blocks;
    HostModel<float> model(config, 1, options, store);
    model.weights_changed();
    return relative_error<float>({model.forward(images.data()).main, expected.size()}, expected);
  };
  EXPECT_LT(error_without({}), kTolerance);
  for (int stage = 0; stage < config.stages; ++stage) {
    for (int block = 0; block < stage_shape(config, stage).depth; ++block) {
      EXPECT_GT(error_without({{stage, block}}), 100 * kTolerance) << "stage " << stage + 1 << " block " << block + 1;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, TimmSensitivity, testing::Values("swin_tiny", "swinv2_tiny"),
                         [](const auto& model) { return std::string(model.param); });

}  // namespace
}  // namespace swinscope
