#include "workloads/data/image_pipeline.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "workloads/images/prepare.h"

namespace swinscope {
namespace {

class LabelledPictures : public SampleSource {
 public:
  LabelledPictures(std::vector<LabelledFile> files, const PipelineOptions& options)
      : files_(std::move(files)), options_(options) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(files_.size()); }
  std::size_t label_bytes() const override { return sizeof(std::int32_t); }
  const std::filesystem::path& file(std::int64_t number) const override { return at(number).file; }
  void read(std::int64_t number, std::int64_t sample, std::span<float> image,
            std::span<std::byte> label) const override {
    const std::string name = file(number).string();
    const std::vector<std::uint8_t> bytes = read_bytes(file(number));
    if (options_.training) {
      prepare_for_training(bytes, name, options_.image_size, {sample, options_.seed, options_.least_area}, image);
    } else {
      prepare_for_evaluation(bytes, name, options_.image_size, image);
    }
    set(label, at(number).label);
  }
  void leave_out(std::span<std::byte> label) const override { set(label, -1); }

 private:
  const LabelledFile& at(std::int64_t number) const { return files_[static_cast<std::size_t>(number)]; }
  static void set(std::span<std::byte> label, std::int32_t value) { std::memcpy(label.data(), &value, sizeof value); }

  const std::vector<LabelledFile> files_;
  const PipelineOptions options_;
};

// The slots' memory comes from operator new: it is aligned for labels.
ImagePipeline::Batch labelled(const SamplePipeline::Batch& batch) {
  return {batch.images, reinterpret_cast<const std::int32_t*>(batch.labels)};
}

}  // namespace

ImagePipeline::ImagePipeline(ImageFolder folder, const PipelineOptions& options)
    : samples_(std::make_unique<LabelledPictures>(std::move(folder.files), options), std::move(folder.skipped),
               options) {}

ImagePipeline::Batch ImagePipeline::next() { return labelled(samples_.next()); }

void ImagePipeline::load(std::int64_t first, std::span<float> images, const Labels& labels) {
  const Batch batch = labelled(samples_.next(first));
  std::copy_n(batch.images, images.size(), images.begin());
  std::copy_n(batch.labels, labels.classes().size(), labels.classes().begin());
}

}  // namespace swinscope
