// Batches of a labelled set of JPEG files, made ahead by threads of their own: read, decoded (at reduced size where
// that is enough), cropped, mirrored, normalized. What sample n is depends on its number and the seed alone: the same
// for any number of threads and, with the same global batch, of ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "workloads/images/image_folder.h"
#include "workloads/training_data.h"

namespace swinscope {

struct PipelineOptions {
  int image_size = 224;
  std::int64_t batch = 1;   // of this rank
  std::int64_t first = 0;   // sample that the first batch begins with
  std::int64_t stride = 1;  // from one batch's first sample to the next one's: the batches of all ranks together
  int workers = 1;
  int batches_ahead = 3;  // held in memory, the one that is in use included; at least 2
  // Training: each epoch in an order of its own, random crops and mirroring, and where a file cannot be read, the next
  // one in the epoch's order. Else: files by name, the middle of each as for evaluation; samples behind the last file,
  // and files that cannot be read, have the label -1.
  bool training = true;
  double least_area = 0.08;  // of a picture that a random crop shows
  std::uint64_t seed = 0;
};

class ImagePipeline : public TrainingData {
 public:
  struct Batch {
    const float* images = nullptr;         // [batch, 3, size, size]
    const std::int32_t* labels = nullptr;  // [batch]
  };

  // The threads start at once. Throws WorkloadError (kInput) for a folder without files.
  ImagePipeline(ImageFolder folder, const PipelineOptions& options);
  ~ImagePipeline() override;
  ImagePipeline(const ImagePipeline&) = delete;
  ImagePipeline& operator=(const ImagePipeline&) = delete;
  ImagePipeline(ImagePipeline&&) = delete;
  ImagePipeline& operator=(ImagePipeline&&) = delete;

  // Waits for the next batch, within a range "data.wait"; it stays valid until the next call, which hands its memory
  // back to the threads. Throws WorkloadError (kInput) when no file can be read.
  Batch next();

  // next(), copied. Throws std::logic_error for another sample than the one that is next.
  void load(std::int64_t first, std::span<float> images, std::span<std::int32_t> labels) override;
  void load(std::int64_t first, std::span<double> images, std::span<std::int32_t> labels) override;

  // Files that could not be read so far, each once, in the order in which they were found.
  std::vector<SkippedPath> skipped() const;
  // Time that next() has waited so far.
  std::int64_t waited_ns() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace swinscope
