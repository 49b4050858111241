// Checkpoints: what is written comes back to the bit, what does not fit is refused, what is there is never lost.
#include "workloads/checkpoint.h"

#include <csignal>
#include <fstream>
#include <numeric>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/unit/workloads/loss_harness.h"
#include "tests/unit/workloads/subprocess.h"
#include "workloads/error.h"
#include "workloads/initialize.h"
#include "workloads/safetensors_writer.h"
#include "workloads/synthetic_data.h"
#include "workloads/trainer.h"
#include "workloads/weights.h"

namespace swinscope {
namespace {

using test::small_nano;
using testing::HasSubstr;

template <typename T>
struct Training {
  Training(SwinVersion version, std::int64_t accumulate = 1)
      : config(small_nano(version)), store(config, true), data(config, 64, 1), alone(make_single_rank()) {
    initialize_parameters(store, version, 1);
    options.batch_per_rank = 2;
    options.accumulate = accumulate;
    options.total_steps = 10;
    options.warmup_steps = 3;
    options.drop_path = 0.3;
    trainer = std::make_unique<Trainer<T>>(config, options, data, store, *alone);
  }
  void train(int steps) {
    for (int i = 0; i < steps; ++i)
      losses.push_back(trainer->step().loss);
  }
  void write(const std::filesystem::path& folder) {
    write_checkpoint<T>(folder, {trainer->steps_done(), trainer->optimizer().steps(), {{"seed", "1"}}}, store,
                        trainer->optimizer().moments());
  }
  void resume(const Checkpoint& checkpoint) {
    checkpoint.read<T>(store, trainer->optimizer().moments());
    trainer->optimizer().set_steps(checkpoint.state().optimizer_steps);
    trainer->set_steps_done(checkpoint.state().steps_done);
  }

  SwinConfig config;
  ParameterStore<T> store;
  SyntheticData data;
  std::unique_ptr<Communicator> alone;
  TrainerOptions options;
  std::unique_ptr<Trainer<T>> trainer;
  std::vector<double> losses;
};

class CheckpointTest : public testing::Test {
 protected:
  std::filesystem::path folder() const { return folder_.path() / "deep" / "checkpoint"; }
  test::TemporaryFolder folder_;
};

template <typename T>
void expect_bit_exact_resume(const std::filesystem::path& folder, SwinVersion version) {
  Training<T> whole(version);
  whole.train(10);
  Training<T> first(version);
  first.train(4);
  first.write(folder);
  Training<T> second(version);
  second.resume(*Checkpoint::find(folder));
  EXPECT_EQ(second.trainer->steps_done(), 4);
  second.train(6);
  EXPECT_TRUE(std::equal(second.losses.begin(), second.losses.end(), whole.losses.begin() + 4));
  EXPECT_TRUE(std::ranges::equal(second.store.values(), whole.store.values()));
}

TEST_F(CheckpointTest, TrainingGoesOnToTheBit) {
  for (const SwinVersion version : {SwinVersion::kV1, SwinVersion::kV2}) {
    expect_bit_exact_resume<float>(folder(), version);
    expect_bit_exact_resume<double>(folder(), version);
  }
}

TEST_F(CheckpointTest, WhatADeviceAddsIsKept) {
  Training<float> training(SwinVersion::kV1);
  const auto written = [&](const CheckpointState& state) {
    write_checkpoint<float>(folder(), state, training.store, training.trainer->optimizer().moments());
    return Checkpoint::find(folder())->state();
  };
  CheckpointState state{5, 4, {{"seed", "1"}}};
  EXPECT_EQ(written(state).algorithms, "");
  EXPECT_EQ(written(state).loss_scale, 1.0);
  state.loss_scale = 1024.0;
  state.good_steps = 7;
  state.algorithms = "matmul-GPU-1\n1,2,3 0 1\n";
  const CheckpointState read = written(state);
  EXPECT_EQ(read.steps_done, 5);
  EXPECT_EQ(read.optimizer_steps, 4);
  EXPECT_EQ(read.loss_scale, 1024.0);
  EXPECT_EQ(read.good_steps, 7);
  EXPECT_EQ(read.algorithms, state.algorithms);
}

TEST_F(CheckpointTest, ThereMayBeNone) { EXPECT_FALSE(Checkpoint::find(folder()).has_value()); }

TEST_F(CheckpointTest, ItServesAsWeights) {
  Training<float> training(SwinVersion::kV1);
  training.train(1);
  training.write(folder());
  ParameterStore<float> store(training.config, false);
  const SafetensorsFile file(checkpoint_file(folder()));
  load_weights(file, store);
  EXPECT_TRUE(std::ranges::equal(store.values(), training.store.values()));
  EXPECT_EQ(classes_in(file, 7), training.config.classes);
}

TEST_F(CheckpointTest, OtherSettingsAreRefusedAndNamed) {
  Training<float> training(SwinVersion::kV1);
  training.write(folder());
  const Checkpoint checkpoint = *Checkpoint::find(folder());
  EXPECT_NO_THROW(checkpoint.require_settings({{"seed", "1"}}));
  try {
    checkpoint.require_settings({{"seed", "2"}, {"model", "swin_tiny"}});
    FAIL() << "no error";
  } catch (const WorkloadError& error) {
    EXPECT_EQ(error.kind(), WorkloadErrorKind::kUsage);
    EXPECT_EQ(error.cause(), "model swin_tiny (there was none); seed 2 instead of 1");
  }
  try {
    checkpoint.require_settings({});
    FAIL() << "no error";
  } catch (const WorkloadError& error) {
    EXPECT_EQ(error.cause(), "no seed (it was 1)");
  }
}

TEST_F(CheckpointTest, DamagedAndForeignFilesAreRefused) {
  Training<float> training(SwinVersion::kV1);
  training.write(folder());
  const std::filesystem::path file = checkpoint_file(folder());
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 8);
  EXPECT_THROW(Checkpoint::find(folder()), WorkloadError);
  const std::vector<float> values = {1.0F};
  const std::vector<TensorSource> tensors = {{"a", {1}, values, {}}};
  const auto cause_of = [&](const std::map<std::string, std::string>& metadata) {
    write_safetensors(file, tensors, metadata);
    try {
      Checkpoint::find(folder());
    } catch (const WorkloadError& error) {
      EXPECT_EQ(error.kind(), WorkloadErrorKind::kInput);
      return error.cause();
    }
    return std::string("no error");
  };
  EXPECT_THAT(cause_of({}), HasSubstr("no 'swin.checkpoint'"));
  EXPECT_THAT(cause_of({{"swin.checkpoint", "{"}}), HasSubstr("is no JSON object"));
  const auto with = [](const std::string& numbers) {
    return R"({"schema":"swin.checkpoint/1","settings":{},)" + numbers + "}";
  };
  EXPECT_THAT(cause_of({{"swin.checkpoint", with(R"("steps_done":-5,"optimizer_steps":1)")}}),
              HasSubstr("its steps_done is -5: not within 0 and 1000000000"));
  EXPECT_THAT(cause_of({{"swin.checkpoint", with(R"("steps_done":5,"optimizer_steps":1,"loss_scale":1e300)")}}),
              HasSubstr("its loss_scale is 1e+300: no scale of a float"));
  EXPECT_THAT(cause_of({{"swin.checkpoint", "{\"schema\": \"swin.checkpoint/9\"}"}}), HasSubstr("swin.checkpoint/9"));
  EXPECT_THAT(cause_of({{"swin.checkpoint", "{\"schema\": \"swin.checkpoint/1\"}"}}), HasSubstr("steps_done"));
  // Of another model.
  Training<float> other(SwinVersion::kV2);
  other.write(folder());
  EXPECT_THROW(training.resume(*Checkpoint::find(folder())), WorkloadError);
}

// A limit on the size of files stands for the full disk: the write fails half way.
TEST_F(CheckpointTest, ADiskThatIsFullKeepsThePreviousOne) {
  Training<float> training(SwinVersion::kV1);
  training.train(1);
  training.write(folder());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit limited = before;
  limited.rlim_cur = 10000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limited), 0);
  training.train(1);
  std::string message;
  try {
    training.write(folder());
  } catch (const WorkloadError& error) {
    EXPECT_EQ(error.kind(), WorkloadErrorKind::kFailure);
    message = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, old_handler);
  EXPECT_THAT(message, HasSubstr("checkpoint.safetensors: cannot be written"));
  EXPECT_EQ(Checkpoint::find(folder())->state().steps_done, 1);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder()), {}), 1);  // nothing half is left
}

// One batch of four, or two of two: the same gradients up to the order of summation.
TEST(Accumulation, GivesTheGradientsOfTheLargerBatch) {
  const SwinConfig config = small_nano(SwinVersion::kV1);
  const auto alone = make_single_rank();
  std::vector<std::vector<double>> gradients;
  std::vector<double> losses;
  for (const std::int64_t accumulate : {1, 2, 4}) {
    ParameterStore<double> store(config, true);
    initialize_parameters(store, config.version, 1);
    SyntheticData data(config, 64, 1);
    TrainerOptions options;
    options.batch_per_rank = 4 / accumulate;
    options.accumulate = accumulate;
    options.total_steps = 5;
    options.drop_path = 0.5;
    Trainer<double> trainer(config, options, data, store, *alone);
    EXPECT_EQ(trainer.global_batch(), 4);
    trainer.step();
    losses.push_back(trainer.step().loss);
    gradients.emplace_back(store.gradients().begin(), store.gradients().end());
  }
  for (std::size_t i = 1; i < gradients.size(); ++i) {
    EXPECT_NEAR(losses[i], losses[0], 1e-10);
    for (std::size_t at = 0; at < gradients[0].size(); ++at)
      ASSERT_NEAR(gradients[i][at], gradients[0][at], 1e-9) << at;
  }
}

}  // namespace
}  // namespace swinscope
