// What is summed up when: the cut into buckets, and a trainer whose other ranks are pretended.
#include "workloads/cuda/device_reducer.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/workloads/host_device_memory.h"
#include "workloads/cuda/device_trainer.h"
#include "workloads/error.h"
#include "workloads/redraw.h"
#include "workloads/synthetic_data.h"

namespace swinscope {
namespace {

using testing::ElementsAre;
using testing::Field;

auto is_bucket(std::int64_t begin, std::int64_t end, std::size_t after) {
  return testing::AllOf(Field(&GradientBucket::begin, begin), Field(&GradientBucket::end, end),
                        Field(&GradientBucket::after, after));
}

TEST(GradientBuckets, EndWhereEnoughIsFinal) {
  const std::vector<GradientMark> marks = {{3, 64}, {5, 160}, {5, 160}, {9, 320}, {12, 336}};
  EXPECT_THAT(plan_buckets(marks, 100),
              ElementsAre(is_bucket(0, 160, 5), is_bucket(160, 320, 9), is_bucket(320, 336, 12)));
  EXPECT_THAT(plan_buckets(marks, 1000), ElementsAre(is_bucket(0, 336, 12)));
  EXPECT_EQ(plan_buckets(marks, 1).size(), 4U);
  EXPECT_TRUE(plan_buckets({}, 1).empty());
}

// A mark may stand before the gap in front of the next tensor, which belongs to nobody.
TEST(GradientBuckets, BeginWhereATensorMay) {
  const std::vector<GradientMark> marks = {{1, 50}, {2, 70}, {3, 75}};
  EXPECT_THAT(plan_buckets(marks, 40), ElementsAre(is_bucket(0, 64, 1), is_bucket(64, 75, 3)));
}

// Each of three ranks has as many whole vectors, and nothing that is not final.
TEST(GradientBuckets, AreMultiplesWhereRanksHaveAPartEach) {
  const std::int64_t together = gradients_together(3, ElementType::kFp32);
  EXPECT_EQ(together, 12);
  EXPECT_EQ(gradients_together(3, ElementType::kBf16), 24);
  EXPECT_EQ(padded_gradients(75, 3, ElementType::kFp32), 84);
  const std::vector<GradientMark> marks = {{1, 50}, {2, 70}, {3, 75}};
  EXPECT_THAT(plan_buckets(marks, 40, together), ElementsAre(is_bucket(0, 60, 1), is_bucket(60, 84, 3)));
  EXPECT_THAT(plan_buckets(marks, 1000, together), ElementsAre(is_bucket(0, 84, 3)));
}

struct Call {
  const void* values;
  std::int64_t count;
  ReduceType type;
};

// One of two ranks, of which the other has the same gradients, losses and votes.
class Twin : public DeviceCommunicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 2; }
  void all_reduce_sum(void* values, std::int64_t count, ReduceType type, cuda::Stream stream) override {
    calls.push_back({values, count, type});
    test::launch(stream, [=, this] { add(values, count, type); });
  }
  void broadcast(void* /*data*/, std::int64_t /*bytes*/, int root, cuda::Stream /*stream*/) override {
    EXPECT_EQ(root, 0);
    ++broadcasts;
  }
  std::shared_ptr<void> allocate(std::int64_t bytes) override {
    allocated.push_back(bytes);
    const auto own = std::make_shared<cuda::DeviceBuffer>(bytes);
    return {own, own->data()};
  }
  // Of the first part, which is this rank's, both have the same.
  void all_to_all(const void* parts, void* received, std::int64_t count, ReduceType type,
                  cuda::Stream stream) override {
    calls.push_back({parts, 2 * count, type});
    ASSERT_EQ(type, ReduceType::kFp32);
    test::launch(stream, [=] {
      const std::vector<float> own = test::load(ElementType::kFp32, parts, count);
      test::store(ElementType::kFp32, own, received);
      test::store(ElementType::kFp32, own, static_cast<float*>(received) + count);
    });
  }
  // The second part, which the other one adds up, is its own there.
  void all_gather(void* parts, std::int64_t count, ReduceType type, cuda::Stream stream) override {
    ++gathers;
    test::launch(stream, [=, this] { add(static_cast<float*>(parts) + count, count, type); });
  }
  void require_all() override {
    if (!failure.empty()) throw WorkloadError(WorkloadErrorKind::kFailure, failure);
  }

  std::vector<Call> calls;
  std::vector<std::vector<float>> summed;  // what the pieces of gradients held, before
  std::vector<std::int64_t> allocated;
  int broadcasts = 0;
  int gathers = 0;
  std::string failure;

 private:
  void add(void* values, std::int64_t count, ReduceType type) {
    if (type == ReduceType::kFp64) {
      for (std::int64_t i = 0; i < count; ++i)
        static_cast<double*>(values)[i] *= 2.0;
    } else if (type == ReduceType::kInt64) {
      for (std::int64_t i = 0; i < count; ++i)
        static_cast<std::int64_t*>(values)[i] *= 2;
    } else {
      ASSERT_EQ(type, ReduceType::kFp32);
      summed.push_back(test::load(ElementType::kFp32, values, count));
      std::vector<float> doubled = summed.back();
      for (float& value : doubled)
        value *= 2.0F;
      test::store(ElementType::kFp32, doubled, values);
    }
  }
};

SwinConfig nano() {
  SwinConfig config = find_model("swin_nano");
  config.image_size = 32;
  return config;
}

struct Outcome {
  std::vector<FinishedStep> steps;
  std::vector<float> gradients;
};

Outcome train(DeviceCommunicator* ranks, int steps, const std::string& level, std::int64_t batch,
              std::int64_t accumulate = 1, bool by_copies = false) {
  const SwinConfig config = nano();
  DeviceTrainerOptions options;
  options.precision = Precision::kFp32;
  options.features = training_features(find_level(level).features);
  options.trainer.batch_per_rank = batch;
  options.trainer.accumulate = accumulate;
  options.reduce_by_copies = by_copies;
  options.trainer.total_steps = steps;
  options.trainer.learning_rate = 0.0;  // so that each step finds the same parameters
  options.trainer.bucket_bytes = 32768;
  ParameterStore<float> store(config, false);
  redraw_parameters(store, 3);
  DeviceTrainer trainer(config, options, store, ranks);
  // The same image in all places: twice the batch is the batch twice.
  SyntheticData data(config, 1, 1);
  ResidentFeed feed(data, data.size(), config, batch, trainer.element_type(), trainer.stream());
  for (int i = 0; i < steps; ++i)
    trainer.step(feed);
  Outcome run;
  run.steps = trainer.finished(true);
  run.gradients = trainer.gradients();
  return run;
}

double relative(const std::vector<float>& a, const std::vector<float>& b) {
  double error = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    error += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    size += std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(error / size);
}

// All gradients travel, once and in their order, and each when nothing is added to it any more.
TEST(DeviceReducer, SumsFinalGradientsOnce) {
  for (const std::string level : {"eager", "fused", "attention", "graph"}) {
    for (const std::int64_t accumulate : {1, 3}) {
      Twin ranks;
      const int steps = 3;
      const Outcome run = train(&ranks, steps, level, 2, accumulate);
      // A graph is captured once, after a step without: two times the calls, three times the sums.
      const std::size_t enqueued = level == "graph" ? 2 : steps;
      ASSERT_EQ(ranks.calls.size() % enqueued, 0U);
      const std::size_t each = ranks.calls.size() / enqueued;
      ASSERT_GT(each, 4U);
      EXPECT_EQ(ranks.calls[0].type, ReduceType::kFp64);
      EXPECT_EQ(ranks.calls[1].type, ReduceType::kInt64);
      std::int64_t total = 0;
      for (std::size_t i = 2; i < each; ++i) {
        if (i > 2) {
          const auto* const expected = static_cast<const float*>(ranks.calls[i - 1].values) + ranks.calls[i - 1].count;
          EXPECT_EQ(ranks.calls[i].values, expected);
        }
        total += ranks.calls[i].count;
      }
      EXPECT_EQ(static_cast<std::size_t>(total), run.gradients.size());
      ASSERT_EQ(ranks.summed.size(), (each - 2) * steps);
      std::vector<float> last;
      for (std::size_t i = ranks.summed.size() - (each - 2); i < ranks.summed.size(); ++i)
        last.insert(last.end(), ranks.summed[i].begin(), ranks.summed[i].end());
      for (float& value : last)
        value *= 2.0F;
      EXPECT_EQ(last, run.gradients);
    }
  }
}

// The same sums, to the bit: of two ranks there is one order only.
TEST(DeviceReducer, CopiesAndKernelsGiveTheSame) {
  for (const std::string level : {"attention", "graph"}) {
    Twin kernels;
    Twin copies;
    const Outcome expected = train(&kernels, 3, level, 2);
    const Outcome run = train(&copies, 3, level, 2, 1, true);
    EXPECT_EQ(run.gradients, expected.gradients);
    EXPECT_EQ(run.steps.back().result.loss, expected.steps.back().result.loss);
    EXPECT_EQ(run.steps.back().result.gradient_norm, expected.steps.back().result.gradient_norm);
    EXPECT_GT(copies.gathers, 4);
    EXPECT_EQ(kernels.gathers, 0);
    EXPECT_TRUE(kernels.allocated.empty());
    ASSERT_EQ(copies.allocated.size(), 2U);  // the training's memory, and room for the parts of one bucket
    std::int64_t largest = 0;
    for (const Call& call : copies.calls) {
      if (call.type == ReduceType::kFp32) largest = std::max(largest, call.count * 4);
    }
    EXPECT_EQ(copies.allocated.back(), largest);
  }
}

TEST(DeviceReducer, TwinsAreOneOnTwiceTheBatch) {
  for (const std::string level : {"attention", "graph"}) {
    Twin ranks;
    const Outcome twins = train(&ranks, 3, level, 2);
    const Outcome one = train(nullptr, 3, level, 4);
    EXPECT_LT(relative(twins.gradients, one.gradients), 1e-5);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(twins.steps[i].result.loss, one.steps[i].result.loss, 1e-5);
      EXPECT_EQ(twins.steps[i].result.accuracy, one.steps[i].result.accuracy);
      EXPECT_NEAR(twins.steps[i].result.gradient_norm, one.steps[i].result.gradient_norm,
                  1e-4 * one.steps[i].result.gradient_norm);
    }
    EXPECT_EQ(ranks.broadcasts, 4);  // parameters, two moments, the control block
  }
}

TEST(DeviceReducer, AFailureOfAnotherRankIsNoResult) {
  Twin ranks;
  const SwinConfig config = nano();
  DeviceTrainerOptions options;
  options.precision = Precision::kFp32;
  ParameterStore<float> store(config, false);
  DeviceTrainer trainer(config, options, store, &ranks);
  SyntheticData data(config, 1, 1);
  ResidentFeed feed(data, data.size(), config, 1, trainer.element_type(), trainer.stream());
  trainer.step(feed);
  ranks.failure = "rank 1 of 2 died";
  EXPECT_THROW(trainer.finished(true), WorkloadError);
}

// The harness itself: what a GPU's driver refuses, it refuses.
TEST(HostDevice, ACaptureEndsWithAllStreamsJoined) {
  cuda::OwnedStream main;
  cuda::OwnedStream side;
  cuda::Event forked;
  cuda::Event joined;
  cuda::Graph graph;
  int runs = 0;
  graph.begin_capture(main.get());
  forked.record(main.get());
  forked.hold(side.get());
  test::launch(side.get(), [&] { ++runs; });
  joined.record(side.get());
  joined.hold(main.get());
  graph.end_capture(main.get());
  EXPECT_EQ(runs, 0);
  graph.launch(main.get());
  EXPECT_EQ(runs, 1);
  cuda::Graph other;
  other.begin_capture(main.get());
  forked.record(main.get());
  forked.hold(side.get());
  joined.record(side.get());
  test::launch(side.get(), [&] { ++runs; });
  joined.hold(main.get());
  EXPECT_THROW(other.end_capture(main.get()), cuda::Error);
}

}  // namespace
}  // namespace swinscope
