// Batches of pictures with a label for each pixel, made ahead by threads of their own (sample_pipeline.h): read,
// decoded, scaled, cropped, mirrored, their colours moved, normalized (prepare_pair.h).
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/data/sample_pipeline.h"
#include "workloads/images/scene_folder.h"
#include "workloads/training_data.h"

namespace swinscope {

class ScenePipeline : public TrainingData {
 public:
  struct Batch {
    const float* images = nullptr;         // [batch, 3, size, size]
    const std::uint8_t* labels = nullptr;  // [batch, size, size]
  };

  // One part of a set. As SamplePipeline's; a picture and a mask of different sizes, and a label beyond the classes,
  // are files that cannot be read.
  ScenePipeline(std::vector<SceneFiles> files, std::vector<SkippedPath> skipped, int classes,
                const PipelineOptions& options);
  Batch next();

  // next(), copied. Throws std::logic_error for another sample than the one that is next.
  using TrainingData::load;
  void load(std::int64_t first, std::span<float> images, const Labels& labels) override;

  std::vector<SkippedPath> skipped() const { return samples_.skipped(); }
  std::int64_t waited_ns() const override { return samples_.waited_ns(); }

 private:
  SamplePipeline samples_;
};

}  // namespace swinscope
