// Batches of a labelled set of JPEG files, made ahead by threads of their own: read, decoded (at reduced size where
// that is enough), cropped, mirrored, normalized. What sample n is depends on its number and the seed alone: the same
// for any number of threads and, with the same global batch, of ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/data/sample_pipeline.h"
#include "workloads/images/image_folder.h"
#include "workloads/training_data.h"

namespace swinscope {

class ImagePipeline : public TrainingData {
 public:
  struct Batch {
    const float* images = nullptr;         // [batch, 3, size, size]
    const std::int32_t* labels = nullptr;  // [batch]
  };

  // As SamplePipeline's. What is no sample has the label -1.
  ImagePipeline(ImageFolder folder, const PipelineOptions& options);
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
