#include "workloads/data/synthetic_scenes.h"

#include <algorithm>

#include "kernels/parallel.h"
#include "workloads/images/prepare.h"
#include "workloads/images/procedural.h"
#include "workloads/images/scene_folder.h"

namespace swinscope {

SyntheticScenes::SyntheticScenes(int image_size, std::int64_t different, std::uint64_t seed)
    : scenes_(static_cast<std::size_t>(different)) {
  cpu::parallel_for(different, [&](std::int64_t number) {
    LabelledScene drawn = draw_scene("synthetic", number, image_size, seed);
    label_classes(drawn.mask, kSceneClasses, "synthetic");
    Scene& scene = scenes_[static_cast<std::size_t>(number)];
    scene.image.resize(drawn.image.pixels.size());
    normalize(drawn.image, false, scene.image);
    scene.labels = std::move(drawn.mask.labels);
  });
}

void SyntheticScenes::load(std::int64_t first, std::span<float> images, const Labels& labels) {
  const std::size_t pixels = scenes_.front().labels.size();
  for (std::size_t i = 0; i * pixels < labels.pixels().size(); ++i) {
    const Scene& scene = scenes_[(static_cast<std::size_t>(first) + i) % scenes_.size()];
    std::ranges::copy(scene.image, images.begin() + static_cast<std::ptrdiff_t>(3 * i * pixels));
    std::ranges::copy(scene.labels, labels.pixels().begin() + static_cast<std::ptrdiff_t>(i * pixels));
  }
}

}  // namespace swinscope
