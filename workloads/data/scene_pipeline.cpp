#include "workloads/data/scene_pipeline.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "workloads/error.h"
#include "workloads/images/jpeg_decoder.h"
#include "workloads/images/prepare_pair.h"

namespace swinscope {
namespace {

constexpr std::uint8_t kIgnored = 255;

std::span<std::uint8_t> as_labels(std::span<std::byte> bytes) {
  return {reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()};
}

class LabelledScenes : public SampleSource {
 public:
  LabelledScenes(std::vector<SceneFiles> files, int classes, const PipelineOptions& options)
      : files_(std::move(files)), classes_(classes), options_(options) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(files_.size()); }
  std::size_t label_bytes() const override {
    return static_cast<std::size_t>(options_.image_size) * static_cast<std::size_t>(options_.image_size);
  }
  const std::filesystem::path& file(std::int64_t number) const override { return at(number).image; }
  void read(std::int64_t number, std::int64_t sample, std::span<float> image,
            std::span<std::byte> label) const override {
    const SceneFiles& files = at(number);
    const LabelMask mask = read_mask(files.mask);
    const std::vector<std::uint8_t> bytes = read_bytes(files.image);
    const RgbImage picture = JpegDecoder(bytes, files.image.string()).decode();
    if (picture.width != mask.width || picture.height != mask.height) {
      throw WorkloadError(WorkloadErrorKind::kInput, fmt::format("{}: not as its mask", files.image.string()),
                          fmt::format("its mask {} has {} x {} pixels, the picture {} x {}", files.mask.string(),
                                      mask.width, mask.height, picture.width, picture.height));
    }
    if (options_.training) {
      prepare_pair_for_training(picture, mask, options_.image_size, {sample, options_.seed}, image, as_labels(label));
    } else {
      prepare_pair_for_evaluation(picture, mask, options_.image_size, image, as_labels(label));
    }
  }
  void leave_out(std::span<std::byte> label) const override { std::ranges::fill(label, std::byte{kIgnored}); }

 private:
  // What is said of a sample is said of its picture: the cause tells that it is the mask.
  LabelMask read_mask(const std::filesystem::path& file) const {
    try {
      LabelMask mask = decode_mask(read_bytes(file), file.string());
      label_classes(mask, classes_, file.string());
      return mask;
    } catch (const WorkloadError& error) {
      throw WorkloadError(WorkloadErrorKind::kInput, error.what(),
                          fmt::format("its mask {}: {}", file.string(), error.cause()));
    }
  }
  const SceneFiles& at(std::int64_t number) const { return files_[static_cast<std::size_t>(number)]; }

  const std::vector<SceneFiles> files_;
  const int classes_;
  const PipelineOptions options_;
};

}  // namespace

ScenePipeline::ScenePipeline(std::vector<SceneFiles> files, std::vector<SkippedPath> skipped, int classes,
                             const PipelineOptions& options)
    : samples_(std::make_unique<LabelledScenes>(std::move(files), classes, options), std::move(skipped), options) {}

ScenePipeline::Batch ScenePipeline::next() {
  const SamplePipeline::Batch batch = samples_.next();
  return {batch.images, reinterpret_cast<const std::uint8_t*>(batch.labels)};
}

void ScenePipeline::load(std::int64_t first, std::span<float> images, const Labels& labels) {
  const SamplePipeline::Batch batch = samples_.next(first);
  std::copy_n(batch.images, images.size(), images.begin());
  std::copy_n(reinterpret_cast<const std::uint8_t*>(batch.labels), labels.pixels().size(), labels.pixels().begin());
}

}  // namespace swinscope
