// The segmentation model as a whole: gradients against finite differences, ranks against the joined batch, inference.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include <gtest/gtest.h>

#include "kernels/upsample_loss.h"
#include "tests/unit/workloads/loss_harness.h"
#include "tests/unit/workloads/thread_ranks.h"
#include "workloads/error.h"
#include "workloads/execute/host_model.h"
#include "workloads/loss.h"

namespace swinscope {
namespace {

constexpr std::uint64_t kSeed = 11;

SwinConfig small_segmentation(SwinVersion version) {
  SwinConfig config = test::small_nano(version);
  config.task = Task::kSegmentation;
  config.head_channels = 8;
  config.classes = 5;
  return config;
}

// About one pixel in six is ignored; images differ in how many.
std::vector<std::uint8_t> drawn_labels(const SwinConfig& config, std::int64_t batch) {
  const HashStream stream("labels", kSeed);
  std::vector<std::uint8_t> labels(static_cast<std::size_t>(batch * config.image_size * config.image_size));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto drawn = static_cast<int>(stream.bits(i) % static_cast<std::uint64_t>(config.classes + 1));
    labels[i] = drawn == config.classes ? kIgnoredLabel : static_cast<std::uint8_t>(drawn);
  }
  return labels;
}

// One rank's part of a batch: images first .. first + batch of `whole`.
template <typename T>
class Harness {
 public:
  Harness(const SwinConfig& config, std::int64_t first, std::int64_t batch, std::int64_t whole,
          Communicator& communicator, bool tap_fusion = false)
      : store_(config, true),
        model_(config, batch, {.training = true, .tap_fusion = tap_fusion}, store_, &communicator),
        loss_(make_loss<T>(config, batch, 0.0)),
        communicator_(communicator) {
    redraw_parameters(store_, kSeed);
    const std::vector<T> images = test::redrawn_images<T>(config, whole, kSeed);
    const auto image = static_cast<std::ptrdiff_t>(images.size()) / whole;
    images_.assign(images.begin() + first * image, images.begin() + (first + batch) * image);
    const std::vector<std::uint8_t> labels = drawn_labels(config, whole);
    const auto pixels = static_cast<std::ptrdiff_t>(labels.size()) / whole;
    labels_.assign(labels.begin() + first * pixels, labels.begin() + (first + batch) * pixels);
  }

  double loss() {
    logits_ = model_.forward(images_.data());
    std::ranges::copy(labels_, loss_->labels().pixels().begin());
    const LossTotals own = loss_->forward(logits_);
    double sums[] = {own.loss, static_cast<double>(own.count)};
    communicator_.all_reduce_sum(std::span<double>(sums));
    count_ = sums[1];
    return sums[0] / sums[1];
  }

  // The gradients are this rank's.
  double loss_and_gradients(const GradientsReady& ready = [](std::int64_t) {}) {
    store_.clear_gradients();
    const double value = loss();
    loss_->backward(1.0 / count_);
    model_.backward(loss_->gradient(), loss_->auxiliary_gradient(), ready);
    return value;
  }

  ParameterStore<T>& store() { return store_; }
  const std::vector<T>& images() const { return images_; }
  std::vector<T> logits(const SwinConfig& config) const {
    const std::int64_t side = stage_shape(config, 0).resolution;
    const std::int64_t pixels = std::int64_t{config.image_size} * config.image_size;
    const auto count = static_cast<std::int64_t>(labels_.size()) / pixels;
    return {logits_.main, logits_.main + count * side * side * config.classes};
  }

 private:
  ParameterStore<T> store_;
  HostModel<T> model_;
  std::unique_ptr<Loss<T>> loss_;
  Communicator& communicator_;
  std::vector<T> images_;
  std::vector<std::uint8_t> labels_;
  Logits<T> logits_;
  double count_ = 0.0;
};

class Segmentation : public testing::TestWithParam<SwinVersion> {
 protected:
  SwinConfig config_ = small_segmentation(GetParam());
  std::unique_ptr<Communicator> alone_ = make_single_rank();
};

// Steps are short, since a ReLU's bend between two points of the difference would show; the rounding of the loss then
// leaves some 1e-9 of the difference, more or less as the processor's products are ordered.
TEST_P(Segmentation, GradientsMatchFiniteDifferencesInFp64) {
  constexpr double kStep = 1e-6;
  constexpr double kRounding = 1e-8;
  Harness<double> harness(config_, 0, 2, 2, *alone_);
  harness.loss_and_gradients();
  const std::vector<double> gradients(harness.store().gradients().begin(), harness.store().gradients().end());
  for (const ParameterInfo& tensor : harness.store().layout().tensors()) {
    const HashStream picks(tensor.name, kSeed + 1);
    double largest = 0.0;
    for (int i = 0; i < 2; ++i) {
      const std::uint64_t at = picks.bits(static_cast<std::uint64_t>(i)) % static_cast<std::uint64_t>(tensor.count);
      double& parameter = harness.store().values(tensor)[at];
      const double saved = parameter;
      parameter = saved + kStep;
      const double above = harness.loss();
      parameter = saved - kStep;
      const double below = harness.loss();
      parameter = saved;
      const double analytic = gradients[static_cast<std::size_t>(tensor.offset) + at];
      EXPECT_NEAR(analytic, (above - below) / (2 * kStep), kRounding + 1e-5 * std::abs(analytic))
          << tensor.name << "[" << at << "]";
      largest = std::max(largest, std::abs(analytic));
    }
    if (!tensor.name.ends_with("logit_scale") && !tensor.name.starts_with("h.ppm.0")) {
      EXPECT_GT(largest, 0.0) << tensor.name;
    }
  }
}

TEST_P(Segmentation, TwoRanksEqualOneOnTheJoinedBatch) {
  Harness<double> joined(config_, 0, 3, 3, *alone_);
  const double joined_loss = joined.loss_and_gradients();
  std::vector<double> gradients(joined.store().gradients().size());
  std::vector<std::vector<double>> statistics(2);
  double losses[2] = {};
  test::ThreadRanks ranks(2);
  ranks.run([&](Communicator& communicator) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    Harness<double> part(config_, rank == 0 ? 0 : 2, rank == 0 ? 2 : 1, 3, communicator);  // of unequal size
    losses[rank] = part.loss_and_gradients();
    communicator.all_reduce_sum(part.store().gradients());
    if (rank == 0) gradients.assign(part.store().gradients().begin(), part.store().gradients().end());
    statistics[rank].assign(part.store().buffers().begin(), part.store().buffers().end());
  });
  EXPECT_EQ(losses[0], losses[1]);
  EXPECT_NEAR(losses[0], joined_loss, 1e-12 * joined_loss);
  EXPECT_EQ(statistics[0], statistics[1]);
  double error = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    error += std::pow(gradients[i] - joined.store().gradients()[i], 2);
    size += std::pow(joined.store().gradients()[i], 2);
  }
  EXPECT_LT(std::sqrt(error / size), 1e-10);
  for (std::size_t i = 0; i < statistics[0].size(); ++i)
    ASSERT_NEAR(statistics[0][i], joined.store().buffers()[i], 1e-12);
}

// The fusion convolution at the parts' own sizes is the same function.
TEST_P(Segmentation, TapFusionChangesNothingButTheOrderOfSummation) {
  Harness<double> plain(config_, 0, 2, 2, *alone_);
  Harness<double> cut(config_, 0, 2, 2, *alone_, true);
  const double loss = plain.loss_and_gradients();
  EXPECT_NEAR(cut.loss_and_gradients(), loss, 1e-12 * loss);
  const std::span<const double> expected = plain.store().gradients();
  const std::span<const double> gradients = cut.store().gradients();
  for (const ParameterInfo& tensor : plain.store().layout().tensors()) {
    double error = 0.0;
    double size = 1e-12;  // some gradients are zero but for roundings
    for (std::int64_t i = tensor.offset; i < tensor.offset + tensor.count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      error += std::pow(gradients[at] - expected[at], 2);
      size += std::pow(expected[at], 2);
    }
    EXPECT_LT(std::sqrt(error / size), 1e-9) << tensor.name;
  }
  for (std::size_t i = 0; i < plain.store().buffers().size(); ++i)
    ASSERT_NEAR(cut.store().buffers()[i], plain.store().buffers()[i], 1e-12);

  HostModel<double> inference(config_, 2, {}, plain.store());
  HostModel<double> inference_cut(config_, 2, {.tap_fusion = true}, plain.store());
  inference.weights_changed();
  inference_cut.weights_changed();
  const double* const logits = inference.forward(plain.images().data()).main;
  const double* const logits_cut = inference_cut.forward(plain.images().data()).main;
  const std::size_t count = plain.logits(config_).size();
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_NEAR(logits_cut[i], logits[i], 1e-11 * (1.0 + std::abs(logits[i])));
}

TEST_P(Segmentation, GradientsBecomeFinalFromFrontToBack) {
  Harness<float> harness(config_, 0, 1, 1, *alone_);
  std::vector<std::int64_t> ends;
  std::vector<std::vector<float>> finished;
  const std::span<const float> gradients = harness.store().gradients();
  harness.loss_and_gradients([&](std::int64_t end) {
    ends.push_back(end);
    finished.emplace_back(gradients.begin(), gradients.begin() + end);
  });
  EXPECT_TRUE(std::ranges::is_sorted(ends));
  EXPECT_EQ(ends.back(), harness.store().layout().flat_count());
  const ParameterInfo& first = harness.store().layout().find("norm0.weight");
  EXPECT_EQ(ends.front(), (first.offset + first.count + 15) / 16 * 16) << "the first call comes when the head is done";
  for (const std::vector<float>& part : finished)
    EXPECT_TRUE(std::equal(part.begin(), part.end(), gradients.begin())) << "changed after it was called final";
}

// Running statistics that are those of the batch make inference give what training gives.
TEST_P(Segmentation, InferenceNormalizesWithTheRunningStatistics) {
  Harness<double> harness(config_, 0, 2, 2, *alone_);
  ParameterStore<double>& store = harness.store();
  for (int i = 0; i < 150; ++i)
    harness.loss();
  // Running variances are unbiased, those of a batch are not.
  const auto rows = [&](const std::string& name) {
    if (name.starts_with("h.ppm.")) return 2.0 * std::pow(kPyramidSides.at(static_cast<std::size_t>(name[6] - '0')), 2);
    return 2.0 * std::pow(stage_shape(config_, name.starts_with("h.bott") ? 1 : 0).resolution, 2);
  };
  for (const ParameterInfo& buffer : store.layout().buffers()) {
    if (!buffer.name.ends_with("running_var")) continue;
    for (double& variance : store.buffer(buffer))
      variance *= 1.0 - 1.0 / rows(buffer.name);
  }
  HostModel<double> inference(config_, 2, {}, store);
  inference.weights_changed();
  const auto logits = inference.forward(harness.images().data());
  EXPECT_EQ(logits.auxiliary, nullptr);
  const std::vector<double> trained = harness.logits(config_);
  double error = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < trained.size(); ++i) {
    error += std::pow(logits.main[i] - trained[i], 2);
    size += trained[i] * trained[i];
  }
  EXPECT_LT(std::sqrt(error / size), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Versions, Segmentation, testing::Values(SwinVersion::kV1, SwinVersion::kV2),
                         [](const auto& version) { return version.param == SwinVersion::kV1 ? "V1" : "V2"; });

// The peer's model: torch's count of the same head on a base backbone, 150 classes.
TEST(SegmentationLayout, HasThePeersParametersAndBuffers) {
  SwinConfig config = find_model("swinv2_base");
  config.image_size = 512;
  config.task = Task::kSegmentation;
  config.classes = 150;
  const ParameterLayout layout(config);
  std::int64_t head = 0;
  std::set<std::string> names;
  for (const ParameterInfo& tensor : layout.tensors()) {
    EXPECT_TRUE(names.insert(tensor.name).second) << tensor.name;
    if (tensor.name.starts_with("h.")) head += tensor.count;
  }
  EXPECT_NEAR(static_cast<double>(head) * 1e-6, 34.5, 0.05);
  EXPECT_FALSE(names.contains("head.fc.weight"));
  EXPECT_EQ(layout.find("h.fuse.0.weight").shape, (std::vector<std::int64_t>{512, 3, 3, 2048}));
  EXPECT_EQ(layout.find("h.bott.0.weight").shape, (std::vector<std::int64_t>{512, 3, 3, 3072}));
  EXPECT_EQ(layout.find("h.ppm.3.1.0.weight").shape, (std::vector<std::int64_t>{512, 1, 1, 1024}));
  EXPECT_EQ(layout.find("h.aux.1.weight").shape, (std::vector<std::int64_t>{150, 256}));
  EXPECT_EQ(layout.buffers().size(), 2U * (4 + 1 + 3 + 3 + 1 + 1));
  EXPECT_EQ(layout.find_buffer("h.aux.0.1.running_var").count, 256);
}

TEST(SegmentationModel, RefusesWhatItCannotBe) {
  const auto alone = make_single_rank();
  SwinConfig config = small_segmentation(SwinVersion::kV1);
  config.classes = 256;
  ParameterStore<float> store(config, false);
  EXPECT_THROW(HostModel<float>(config, 1, {}, store), WorkloadError);
  EXPECT_THROW(check_segmentation(test::small_nano(SwinVersion::kV1)), std::invalid_argument);
}

}  // namespace
}  // namespace swinscope
