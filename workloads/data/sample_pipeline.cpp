#include "workloads/data/sample_pipeline.h"

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

namespace swinscope {
namespace {

using Clock = std::chrono::steady_clock;

// So many files in a row that cannot be read mean that something is wrong with all of them.
constexpr std::int64_t kMostSubstitutes = 1000;

struct Slot {
  std::vector<float> images;
  std::vector<std::byte> labels;
  std::int64_t missing = 0;  // images that are still being made
};

}  // namespace

// Batch b lies in slot b % slots. Work is handed out image by image, in order, for the batches `taken_` to
// taken_ + slots - 1, of which the first is the consumer's.
class SamplePipeline::State {
 public:
  State(std::unique_ptr<SampleSource> source, std::vector<SkippedPath> skipped, const PipelineOptions& options)
      : source_(std::move(source)),
        options_(options),
        order_(source_->size(), options.training, options.seed),
        image_elements_(std::size_t{3} * static_cast<std::size_t>(options.image_size) *
                        static_cast<std::size_t>(options.image_size)),
        slots_(static_cast<std::size_t>(std::max(2, options.batches_ahead))),
        skipped_(std::move(skipped)),
        wait_name_("data.wait") {
    for (Slot& slot : slots_) {
      slot.images.resize(static_cast<std::size_t>(options.batch) * image_elements_);
      slot.labels.resize(static_cast<std::size_t>(options.batch) * source_->label_bytes());
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
    const std::size_t label_bytes = source_->label_bytes();
    const std::span<std::byte> label = std::span(slot.labels).subspan(index * label_bytes, label_bytes);
    const std::int64_t epoch = sample / order_.size();
    const std::int64_t position = sample % order_.size();
    if (!options_.training && epoch > 0) return source_->leave_out(label);
    const std::int64_t tries = options_.training ? std::min(order_.size(), kMostSubstitutes) : 1;
    for (std::int64_t attempt = 0; attempt < tries; ++attempt) {
      const std::int64_t number = order_.file(epoch, (position + attempt) % order_.size());
      if (read(number, sample, image, label)) return;
    }
    source_->leave_out(label);
    if (options_.training) {
      throw WorkloadError(WorkloadErrorKind::kInput, fmt::format("none of {} pictures in a row can be read", tries),
                          fmt::format("the last one: {}: {}", skipped().back().path.string(), skipped().back().reason));
    }
  }

  bool read(std::int64_t number, std::int64_t sample, std::span<float> image, std::span<std::byte> label) {
    try {
      source_->read(number, sample, image, label);
      return true;
    } catch (const WorkloadError& error) {
      const std::lock_guard lock(mutex_);
      if (unreadable_.insert(number).second) skipped_.push_back({source_->file(number), error.cause()});
      return false;
    }
  }

  const std::unique_ptr<SampleSource> source_;
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

SamplePipeline::SamplePipeline(std::unique_ptr<SampleSource> source, std::vector<SkippedPath> skipped,
                               const PipelineOptions& options) {
  if (source->size() == 0) {
    throw WorkloadError(WorkloadErrorKind::kInput, "there are no pictures to read", {}, {});
  }
  state_ = std::make_unique<State>(std::move(source), std::move(skipped), options);
}

SamplePipeline::~SamplePipeline() = default;

SamplePipeline::Batch SamplePipeline::next() {
  const Slot& slot = state_->next();
  return {slot.images.data(), slot.labels.data()};
}

SamplePipeline::Batch SamplePipeline::next(std::int64_t first) {
  if (first != state_->next_sample()) throw std::logic_error("SamplePipeline: samples come in order");
  return next();
}

std::vector<SkippedPath> SamplePipeline::skipped() const { return state_->skipped(); }
std::int64_t SamplePipeline::waited_ns() const { return state_->waited_ns(); }

}  // namespace swinscope
