// Training a segmentation model on the CPU.
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "workloads/program/restore_training.h"
#include "workloads/program/scene_gradients.h"
#include "workloads/program/training_engine.h"
#include "workloads/segmentation_trainer.h"

namespace swinscope {
namespace {

class SegmentationEngine : public TrainingEngine {
 public:
  SegmentationEngine(const TrainOptions& options, const SwinConfig& config, const TrainingStart& start,
                     SegmentationData& data, Communicator& communicator)
      : config_(config),
        batch_(options.run.batch),
        evaluation_{.tap_fusion = options.trainer.tap_fusion},
        communicator_(communicator),
        store_(config, true),
        new_head_(start.checkpoint == nullptr && start_parameters(options, config, store_)),
        trainer_(config, options.trainer, data, store_, communicator) {
    if (start.resumed_at > 0) restore_training(start, store_, trainer_, communicator_);
  }

  void step(bool stop) override {
    const std::int64_t start_ns = now_ns();
    const StepResult result = trainer_.step(stop);
    done_.push_back({result, now_ns() - start_ns});
  }
  std::vector<FinishedStep> finished(bool /*wait*/) override { return std::exchange(done_, {}); }
  std::int64_t global_batch() const override { return trainer_.global_batch(); }

  using TrainingEngine::evaluate;
  Evaluation evaluate(SegmentationData& data, std::int64_t images) override {
    if (!evaluator_) evaluator_.emplace(config_, batch_, evaluation_, store_, communicator_);
    return evaluator_->evaluate(data, images);
  }

  void save(const std::filesystem::path& folder, const std::map<std::string, std::string>& settings) override {
    CheckpointState state;
    state.steps_done = trainer_.steps_done();
    state.optimizer_steps = trainer_.optimizer().steps();
    state.settings = settings;
    write_checkpoint<float>(folder, state, store_, trainer_.optimizer().moments());
  }
  void write_gradients(const std::filesystem::path& file) override {
    write_scene_gradients(file, config_, store_.layout(), std::as_const(store_).gradients(), trainer_.images(),
                          trainer_.labels());
  }
  void describe(nlohmann::ordered_json& /*run*/) const override {}
  bool new_classifier() const override { return new_head_; }

 private:
  const SwinConfig& config_;
  std::int64_t batch_;
  ModelOptions evaluation_;
  Communicator& communicator_;
  ParameterStore<float> store_;
  bool new_head_;
  SegmentationTrainer trainer_;
  std::optional<SegmentationEvaluator> evaluator_;
  std::vector<FinishedStep> done_;
};

}  // namespace

std::unique_ptr<TrainingEngine> make_segmentation_engine(const TrainOptions& options, const SwinConfig& config,
                                                         const TrainingStart& start, SegmentationData& data,
                                                         Communicator& communicator) {
  return std::make_unique<SegmentationEngine>(options, config, start, data, communicator);
}

}  // namespace swinscope
