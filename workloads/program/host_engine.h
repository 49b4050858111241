// What training on CPUs has in common for all tasks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "workloads/communicator.h"
#include "workloads/parameters.h"
#include "workloads/program/step_times.h"
#include "workloads/program/training_engine.h"

namespace swinscope {

// T is float or double. A step has ended when step() returns.
template <typename T, typename Trainer>
class HostEngine : public TrainingEngine {
 public:
  void step(bool stop) override {
    const std::int64_t start_ns = now_ns();
    const StepResult result = trainer_.step(stop);
    done_.push_back({result, now_ns() - start_ns});
  }
  std::vector<FinishedStep> finished(bool /*wait*/) override { return std::exchange(done_, {}); }
  std::int64_t global_batch() const override { return trainer_.global_batch(); }

  void save(const std::filesystem::path& folder, const std::map<std::string, std::string>& settings) override {
    CheckpointState state;
    state.steps_done = trainer_.steps_done();
    state.optimizer_steps = trainer_.optimizer().steps();
    state.settings = settings;
    write_checkpoint<T>(folder, state, store_, trainer_.optimizer().moments());
  }
  void describe(nlohmann::ordered_json& /*run*/) const override {}
  bool new_classifier() const override { return new_classifier_; }

 protected:
  template <typename Data>
  HostEngine(const TrainOptions& options, const SwinConfig& config, const TrainingStart& start, Data& data,
             Communicator& communicator)
      : config_(config),
        batch_(options.run.batch),
        communicator_(communicator),
        store_(config, true),
        new_classifier_(start.checkpoint == nullptr && start_parameters(options, config, store_)),
        trainer_(config, options.trainer, data, store_, communicator) {
    if (start.resumed_at > 0) resume(start);
  }

  const SwinConfig& config_;
  std::int64_t batch_;
  Communicator& communicator_;
  ParameterStore<T> store_;
  bool new_classifier_;
  Trainer trainer_;

 private:
  // The trainer has sent the leading rank's parameters to all; here follows what the checkpoint has, which lies on that
  // rank only.
  void resume(const TrainingStart& start) {
    const auto moments = trainer_.optimizer().moments();
    std::int64_t optimizer_steps = 0;
    if (start.checkpoint != nullptr) {
      start.checkpoint->read(store_, moments);
      optimizer_steps = start.checkpoint->state().optimizer_steps;
    }
    communicator_.broadcast(std::as_writable_bytes(store_.values()), 0);
    // Running statistics, which only segmentation has.
    if (!store_.buffers().empty()) communicator_.broadcast(std::as_writable_bytes(store_.buffers()), 0);
    communicator_.broadcast(std::as_writable_bytes(moments.first), 0);
    communicator_.broadcast(std::as_writable_bytes(moments.second), 0);
    communicator_.broadcast(std::as_writable_bytes(std::span(&optimizer_steps, 1)), 0);
    trainer_.optimizer().set_steps(optimizer_steps);
    trainer_.set_steps_done(start.resumed_at);
  }

  std::vector<FinishedStep> done_;
};

}  // namespace swinscope
