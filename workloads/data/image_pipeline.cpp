#include "workloads/data/image_pipeline.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <pthread.h>

#include "workloads/annotate.h"
#include "workloads/data/sample_order.h"
#include "workloads/error.h"
#include "workloads/images/prepare.h"

namespace swinscope {
namespace {

using Clock = std::chrono::steady_clock;

// So many files in a row that cannot be read mean that something is wrong with all of them.
constexpr std::int64_t kMostSubstitutes = 1000;

struct Slot {
  std::vector<float> images;
  std::vector<std::int32_t> labels;
  std::int64_t missing = 0;  // images that are still being made
};

}  // namespace

// Batch b lies in slot b % slots. Work is handed out image by image, in order, for the batches `taken_` to
// taken_ + slots - 1, of which the first is the consumer's.
class ImagePipeline::State {
 public:
  State(ImageFolder folder, const PipelineOptions& options)
      : folder_(std::move(folder)),
        options_(options),
        order_(static_cast<std::int64_t>(folder_.files.size()), options.training, options.seed),
        image_elements_(std::size_t{3} * static_cast<std::size_t>(options.image_size) *
                        static_cast<std::size_t>(options.image_size)),
        slots_(static_cast<std::size_t>(std::max(2, options.batches_ahead))),
        skipped_(folder_.skipped),
        wait_name_("data.wait") {
    for (Slot& slot : slots_) {
      slot.images.resize(static_cast<std::size_t>(options.batch) * image_elements_);
      slot.labels.resize(static_cast<std::size_t>(options.batch));
      slot.missing = options.batch;
    }
    wait_payload_.operation_class = OperationClass::kOther;
    for (int i = 0; i < options.workers; ++i)
      threads_.emplace_back([this] { work(); });
  }

  ~State() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_)
      thread.join();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  State(State&&) = delete;
  State& operator=(State&&) = delete;

  const Slot& next() {
    const OperationRange range(wait_name_, wait_payload_);
    std::unique_lock lock(mutex_);
    if (started_) {
      slot_of(taken_).missing = options_.batch;
      ++taken_;
      changed_.notify_all();
    }
    started_ = true;
    const auto begin = Clock::now();
    changed_.wait(lock, [this] { return error_ || slot_of(taken_).missing == 0; });
    waited_ns_ += std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
    if (error_) std::rethrow_exception(error_);
    return slot_of(taken_);
  }

  std::int64_t next_sample() const {
    const std::lock_guard lock(mutex_);
    return first_sample(started_ ? taken_ + 1 : taken_);
  }
  std::vector<SkippedPath> skipped() const {
    const std::lock_guard lock(mutex_);
    return skipped_;
  }
  std::int64_t waited_ns() const {
    const std::lock_guard lock(mutex_);
    return waited_ns_;
  }

 private:
  Slot& slot_of(std::int64_t batch) {
    return slots_[static_cast<std::size_t>(batch % static_cast<std::int64_t>(slots_.size()))];
  }
  std::int64_t first_sample(std::int64_t batch) const { return options_.first + batch * options_.stride; }

  void work() {
    pthread_setname_np(pthread_self(), "swin-loader");
    const auto ahead = static_cast<std::int64_t>(slots_.size());
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stop_ || handed_out_ < (taken_ + ahead) * options_.batch; });
      if (stop_) return;
      const std::int64_t batch = handed_out_ / options_.batch;
      const std::int64_t index = handed_out_ % options_.batch;
      ++handed_out_;
      Slot& slot = slot_of(batch);
      lock.unlock();
      std::exception_ptr error;
      try {
        make_sample(first_sample(batch) + index, slot, static_cast<std::size_t>(index));
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      if (error && !error_) error_ = error;
      if (--slot.missing == 0 || error) changed_.notify_all();
    }
  }

  void make_sample(std::int64_t sample, Slot& slot, std::size_t index) {
    const std::span<float> image = std::span(slot.images).subspan(index * image_elements_, image_elements_);
    const std::int64_t epoch = sample / order_.size();
    const std::int64_t position = sample % order_.size();
    if (!options_.training && epoch > 0) {
      slot.labels[index] = -1;
      return;
    }
    const std::int64_t tries = options_.training ? std::min(order_.size(), kMostSubstitutes) : 1;
    for (std::int64_t attempt = 0; attempt < tries; ++attempt) {
      const std::int64_t number = order_.file(epoch, (position + attempt) % order_.size());
      const LabelledFile& file = folder_.files[static_cast<std::size_t>(number)];
      if (!read(file, number, sample, image)) continue;
      slot.labels[index] = file.label;
      return;
    }
    slot.labels[index] = -1;
    if (options_.training) {
      throw WorkloadError(WorkloadErrorKind::kInput, fmt::format("none of {} pictures in a row can be read", tries),
                          fmt::format("the last one: {}: {}", skipped().back().path.string(), skipped().back().reason));
    }
  }

  bool read(const LabelledFile& file, std::int64_t number, std::int64_t sample, std::span<float> image) {
    const std::string name = file.file.string();
    try {
      const std::vector<std::uint8_t> bytes = read_bytes(file.file);
      if (options_.training) {
        prepare_for_training(bytes, name, options_.image_size, {sample, options_.seed, options_.least_area}, image);
      } else {
        prepare_for_evaluation(bytes, name, options_.image_size, image);
      }
      return true;
    } catch (const WorkloadError& error) {
      const std::lock_guard lock(mutex_);
      if (unreadable_.insert(number).second) skipped_.push_back({file.file, error.cause()});
      return false;
    }
  }

  const ImageFolder folder_;
  const PipelineOptions options_;
  const SampleOrder order_;
  const std::size_t image_elements_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Slot> slots_;
  std::int64_t taken_ = 0;       // the consumer's batch, or the first one that it will take
  std::int64_t handed_out_ = 0;  // images
  bool started_ = false;
  bool stop_ = false;
  std::exception_ptr error_;
  std::set<std::int64_t> unreadable_;
  std::vector<SkippedPath> skipped_;
  std::int64_t waited_ns_ = 0;

  RangeName wait_name_;
  OperationPayload wait_payload_;
  std::vector<std::thread> threads_;
};

ImagePipeline::ImagePipeline(ImageFolder folder, const PipelineOptions& options) {
  if (folder.files.empty()) {
    throw WorkloadError(WorkloadErrorKind::kInput, "there are no pictures to read", {}, {});
  }
  state_ = std::make_unique<State>(std::move(folder), options);
}

ImagePipeline::~ImagePipeline() = default;

ImagePipeline::Batch ImagePipeline::next() {
  const Slot& slot = state_->next();
  return {slot.images.data(), slot.labels.data()};
}

void ImagePipeline::load(std::int64_t first, std::span<float> images, std::span<std::int32_t> labels) {
  if (first != state_->next_sample()) throw std::logic_error("ImagePipeline: samples come in order");
  const Batch batch = next();
  std::copy_n(batch.images, images.size(), images.begin());
  std::copy_n(batch.labels, labels.size(), labels.begin());
}

void ImagePipeline::load(std::int64_t first, std::span<double> images, std::span<std::int32_t> labels) {
  if (first != state_->next_sample()) throw std::logic_error("ImagePipeline: samples come in order");
  const Batch batch = next();
  std::copy_n(batch.images, images.size(), images.begin());
  std::copy_n(batch.labels, labels.size(), labels.begin());
}

std::vector<SkippedPath> ImagePipeline::skipped() const { return state_->skipped(); }
std::int64_t ImagePipeline::waited_ns() const { return state_->waited_ns(); }

}  // namespace swinscope
