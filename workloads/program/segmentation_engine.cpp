// Training a segmentation model on the CPU.
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "workloads/program/host_engine.h"
#include "workloads/program/scene_gradients.h"
#include "workloads/program/training_engine.h"
#include "workloads/segmentation_trainer.h"

namespace swinscope {
namespace {

class SegmentationEngine : public HostEngine<float, SegmentationTrainer> {
 public:
  SegmentationEngine(const TrainOptions& options, const SwinConfig& config, const TrainingStart& start,
                     SegmentationData& data, Communicator& communicator)
      : HostEngine(options, config, start, data, communicator), evaluation_{.tap_fusion = options.trainer.tap_fusion} {}

  using TrainingEngine::evaluate;
  Evaluation evaluate(SegmentationData& data, std::int64_t images) override {
    if (!evaluator_) evaluator_.emplace(config_, batch_, evaluation_, store_, communicator_);
    return evaluator_->evaluate(data, images);
  }
  void write_gradients(const std::filesystem::path& file) override {
    write_scene_gradients(file, config_, store_.layout(), std::as_const(store_).gradients(), trainer_.images(),
                          trainer_.labels());
  }

 private:
  ModelOptions evaluation_;
  std::optional<SegmentationEvaluator> evaluator_;
};

}  // namespace

std::unique_ptr<TrainingEngine> make_segmentation_engine(const TrainOptions& options, const SwinConfig& config,
                                                         const TrainingStart& start, SegmentationData& data,
                                                         Communicator& communicator) {
  return std::make_unique<SegmentationEngine>(options, config, start, data, communicator);
}

}  // namespace swinscope
