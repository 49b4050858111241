// Batches of samples made ahead by threads of their own, whatever a sample is: the order of the files, the memory, what
// becomes of files that cannot be read. What sample n is depends on its number and the seed alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "workloads/images/image_files.h"

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
  // and files that cannot be read, have no label.
  bool training = true;
  double least_area = 0.08;  // of a picture that a random crop of a classifier's image shows
  std::uint64_t seed = 0;
};

// Reads the files of a set. Called by several threads at a time.
class SampleSource {
 public:
  SampleSource() = default;
  virtual ~SampleSource() = default;
  SampleSource(const SampleSource&) = delete;
  SampleSource& operator=(const SampleSource&) = delete;
  SampleSource(SampleSource&&) = delete;
  SampleSource& operator=(SampleSource&&) = delete;

  virtual std::int64_t size() const = 0;
  // Of one sample.
  virtual std::size_t label_bytes() const = 0;
  virtual const std::filesystem::path& file(std::int64_t number) const = 0;
  // Makes sample `sample` of file `number`. Throws WorkloadError where that cannot be read.
  virtual void read(std::int64_t number, std::int64_t sample, std::span<float> image,
                    std::span<std::byte> label) const = 0;
  // The label of what is no sample.
  virtual void leave_out(std::span<std::byte> label) const = 0;
};

class SamplePipeline {
 public:
  struct Batch {
    const float* images = nullptr;  // [batch, 3, size, size]
    const std::byte* labels = nullptr;
  };

  // The threads start at once. `skipped`: what was found unreadable before. Throws WorkloadError (kInput) for a source
  // without files.
  SamplePipeline(std::unique_ptr<SampleSource> source, std::vector<SkippedPath> skipped,
                 const PipelineOptions& options);
  ~SamplePipeline();
  SamplePipeline(const SamplePipeline&) = delete;
  SamplePipeline& operator=(const SamplePipeline&) = delete;
  SamplePipeline(SamplePipeline&&) = delete;
  SamplePipeline& operator=(SamplePipeline&&) = delete;

  // Waits for the next batch, within a range "data.wait"; it stays valid until the next call, which hands its memory
  // back to the threads. Throws WorkloadError (kInput) when no file can be read.
  Batch next();
  // next(), of which `first` must be the first sample: throws std::logic_error for another one.
  Batch next(std::int64_t first);

  // Files that could not be read so far, each once, in the order in which they were found.
  std::vector<SkippedPath> skipped() const;
  // Time that next() has waited so far.
  std::int64_t waited_ns() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace swinscope
