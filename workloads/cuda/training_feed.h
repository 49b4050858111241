// Where a device training's batches come from. A batch is put in its place in stream order, so that the host may run
// ahead.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "kernels/device.h"
#include "workloads/models/model_table.h"
#include "workloads/training_data.h"

namespace swinscope {

// Of what a feed fills: images [batch, 3, size, size] in the model's element type; labels [batch] of int32 or, of each
// pixel, [batch, size, size] of uint8.
struct BatchPlace {
  void* images = nullptr;
  void* labels = nullptr;
};

class BatchFeed {
 public:
  BatchFeed() = default;
  virtual ~BatchFeed() = default;
  BatchFeed(const BatchFeed&) = delete;
  BatchFeed& operator=(const BatchFeed&) = delete;
  BatchFeed(BatchFeed&&) = delete;
  BatchFeed& operator=(BatchFeed&&) = delete;

  // The batch that begins with sample `first` is in its place when what is enqueued on `stream` next runs. Returns once
  // the host has done its part.
  virtual void enqueue(std::int64_t first, const BatchPlace& place, cuda::Stream stream) = 0;
};

// From the host: through two pieces of pinned memory, copied on a stream of its own while the device works on the batch
// before. `data` must outlive the feed.
class StreamedFeed : public BatchFeed {
 public:
  StreamedFeed(TrainingData& data, const SwinConfig& config, std::int64_t batch, ElementType type);
  ~StreamedFeed() override;
  StreamedFeed(const StreamedFeed&) = delete;
  StreamedFeed& operator=(const StreamedFeed&) = delete;
  StreamedFeed(StreamedFeed&&) = delete;
  StreamedFeed& operator=(StreamedFeed&&) = delete;
  void enqueue(std::int64_t first, const BatchPlace& place, cuda::Stream stream) override;

 private:
  struct Slot {
    cuda::PinnedBuffer images, labels;
    cuda::DeviceBuffer device_images, device_labels;
    cuda::Event copied;    // to the device: the host memory may be written again
    cuda::Event consumed;  // in its place: the device memory may be written again
  };

  TrainingData& data_;
  Task task_;
  std::int64_t elements_;
  ElementType type_;
  cuda::OwnedStream copies_;
  std::array<Slot, 2> slots_;
  std::size_t next_ = 0;
};

// All images of a synthetic set on the device, made and copied once.
class ResidentFeed : public BatchFeed {
 public:
  static std::int64_t bytes(const SwinConfig& config, std::int64_t size, ElementType type);
  // The samples 0 to size - 1.
  ResidentFeed(TrainingData& data, std::int64_t size, const SwinConfig& config, std::int64_t batch, ElementType type,
               cuda::Stream stream);
  void enqueue(std::int64_t first, const BatchPlace& place, cuda::Stream stream) override;

 private:
  std::int64_t size_;
  std::int64_t image_elements_;
  std::int64_t label_bytes_;  // of an image
  std::int64_t batch_;
  std::int64_t element_;
  cuda::DeviceBuffer images_, labels_;
};

}  // namespace swinscope
