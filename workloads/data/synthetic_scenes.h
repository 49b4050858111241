// Procedural scenes (images/procedural.h) drawn in memory, for runs without files: a few, over and over, so that
// drawing them is no part of what is measured.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/training_data.h"

namespace swinscope {

class SyntheticScenes : public TrainingData {
 public:
  // `different`: number of scenes; numbers wrap around.
  SyntheticScenes(int image_size, std::int64_t different, std::uint64_t seed);

  std::int64_t size() const { return static_cast<std::int64_t>(scenes_.size()); }
  using TrainingData::load;
  void load(std::int64_t first, std::span<float> images, const Labels& labels) override;

 private:
  struct Scene {
    std::vector<float> image;
    std::vector<std::uint8_t> labels;
  };
  std::vector<Scene> scenes_;
};

}  // namespace swinscope
