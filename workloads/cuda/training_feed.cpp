#include "workloads/cuda/training_feed.h"

#include <algorithm>
#include <span>
#include <vector>

#include "kernels/convert.h"

namespace swinscope {
namespace {

std::int64_t image_elements(const SwinConfig& config) {
  return std::int64_t{kImageChannels} * config.image_size * config.image_size;
}

// Of one image.
std::int64_t label_bytes(const SwinConfig& config) {
  return config.task == Task::kSegmentation ? std::int64_t{config.image_size} * config.image_size : 4;
}

Labels labels_at(void* labels, std::int64_t bytes, Task task) {
  const auto count = static_cast<std::size_t>(bytes);
  if (task == Task::kSegmentation) return std::span(static_cast<std::uint8_t*>(labels), count);
  return std::span(static_cast<std::int32_t*>(labels), count / 4);
}

}  // namespace

StreamedFeed::StreamedFeed(TrainingData& data, const SwinConfig& config, std::int64_t batch, ElementType type)
    : data_(data), task_(config.task), elements_(batch * image_elements(config)), type_(type) {
  for (Slot& slot : slots_) {
    slot.images = cuda::PinnedBuffer(elements_ * element_bytes(ElementType::kFp32));
    slot.labels = cuda::PinnedBuffer(batch * label_bytes(config));
    slot.device_images = cuda::DeviceBuffer(slot.images.bytes());
    slot.device_labels = cuda::DeviceBuffer(slot.labels.bytes());
  }
}

// What still reads the buffers must have ended before they go.
StreamedFeed::~StreamedFeed() {
  for (const Slot& slot : slots_) {
    try {
      slot.copied.wait();
      slot.consumed.wait();
    } catch (const cuda::Error&) {
      // A device that has failed reads nothing any more.
      return;
    }
  }
}

void StreamedFeed::enqueue(std::int64_t first, const BatchPlace& place, cuda::Stream stream) {
  Slot& slot = slots_.at(next_);
  next_ = 1 - next_;
  slot.copied.wait();
  data_.load(first, std::span(static_cast<float*>(slot.images.data()), static_cast<std::size_t>(elements_)),
             labels_at(slot.labels.data(), slot.labels.bytes(), task_));
  slot.consumed.hold(copies_.get());
  cuda::copy_async_to_device(slot.device_images.data(), slot.images.data(), slot.images.bytes(), copies_.get());
  cuda::copy_async_to_device(slot.device_labels.data(), slot.labels.data(), slot.labels.bytes(), copies_.get());
  slot.copied.record(copies_.get());
  slot.copied.hold(stream);
  cuda::convert(elements_, ElementType::kFp32, slot.device_images.data(), type_, place.images, stream);
  cuda::copy_on_device(place.labels, slot.device_labels.data(), slot.labels.bytes(), stream);
  slot.consumed.record(stream);
}

std::int64_t ResidentFeed::bytes(const SwinConfig& config, std::int64_t size, ElementType type) {
  return size * (image_elements(config) * element_bytes(type) + label_bytes(config));
}

ResidentFeed::ResidentFeed(TrainingData& data, std::int64_t size, const SwinConfig& config, std::int64_t batch,
                           ElementType type, cuda::Stream stream)
    : size_(size),
      image_elements_(image_elements(config)),
      label_bytes_(label_bytes(config)),
      batch_(batch),
      element_(element_bytes(type)),
      images_(size_ * image_elements_ * element_),
      labels_(size_ * label_bytes_) {
  constexpr std::int64_t kAtOnce = 64;
  std::vector<float> images(static_cast<std::size_t>(std::min(kAtOnce, size_) * image_elements_));
  std::vector<std::int64_t> labels(static_cast<std::size_t>((std::min(kAtOnce, size_) * label_bytes_ + 7) / 8));
  const cuda::DeviceBuffer staging(static_cast<std::int64_t>(images.size()) * 4);
  for (std::int64_t first = 0; first < size_; first += kAtOnce) {
    const std::int64_t count = std::min(kAtOnce, size_ - first);
    data.load(first, std::span(images).first(static_cast<std::size_t>(count * image_elements_)),
              labels_at(labels.data(), count * label_bytes_, config.task));
    cuda::copy_to_device(staging.data(), images.data(), count * image_elements_ * 4, stream);
    cuda::convert(count * image_elements_, ElementType::kFp32, staging.data(), type,
                  static_cast<char*>(images_.data()) + first * image_elements_ * element_, stream);
    cuda::copy_to_device(static_cast<char*>(labels_.data()) + first * label_bytes_, labels.data(), count * label_bytes_,
                         stream);
  }
  cuda::synchronize(stream);
}

// Numbers wrap around at the end of the set.
void ResidentFeed::enqueue(std::int64_t first, const BatchPlace& place, cuda::Stream stream) {
  std::int64_t done = 0;
  while (done < batch_) {
    const std::int64_t from = (first + done) % size_;
    const std::int64_t count = std::min(batch_ - done, size_ - from);
    const std::int64_t image_bytes = image_elements_ * element_;
    cuda::copy_on_device(static_cast<char*>(place.images) + done * image_bytes,
                         static_cast<const char*>(images_.data()) + from * image_bytes, count * image_bytes, stream);
    cuda::copy_on_device(static_cast<char*>(place.labels) + done * label_bytes_,
                         static_cast<const char*>(labels_.data()) + from * label_bytes_, count * label_bytes_, stream);
    done += count;
  }
}

}  // namespace swinscope
