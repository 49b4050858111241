// The steps that a device trainer has enqueued and not yet accounted for: what went out for each, and what comes back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <vector>

#include "kernels/device.h"
#include "workloads/cuda/device_control.h"
#include "workloads/trainer.h"

namespace swinscope {

class StepsInFlight {
 public:
  // Of a batch: its orders, and when the device had done all before and when the images were in their place.
  struct Input {
    cuda::PinnedBuffer orders{sizeof(PassOrders)};
    cuda::Event asked;
    cuda::Event arrived;
  };

  struct Step {
    explicit Step(std::size_t batches) : inputs(batches) {}
    std::deque<Input> inputs;  // which cannot be moved
    cuda::PinnedBuffer outcome{sizeof(DeviceControl)};
    cuda::Event begun;
    cuda::Event ended;
    double learning_rate = 0.0;
    std::int64_t data_ns = 0;
    bool fresh = false;  // after a pause
  };

  // `several_ranks`: see DeviceTrainer::step() on stopping.
  StepsInFlight(std::int64_t batches_each, bool several_ranks);

  // The next step is number `step`, after a pause.
  void restart(std::int64_t step);
  // What the caller does until the next step, as a validation or a checkpoint, belongs to no step.
  void pause() { paused_ = true; }

  std::int64_t enqueued() const { return enqueued_; }  // steps of the whole training
  bool empty() const { return count_ == 0; }
  bool full() const { return count_ == kAhead; }
  // Whether the oldest has ended, or is known to be among the last ones, so that there is nothing to do but to wait.
  bool oldest_is_due() const;

  Step& begin(cuda::Stream stream);
  // All of the step is on the stream; its outcome comes from `control`.
  void end(const DeviceControl* control, cuda::Stream stream);

  // Waits until the oldest has ended.
  const DeviceControl& wait() const;
  // Of the oldest, which has ended; it is accounted for then.
  FinishedStep take();

 private:
  static constexpr std::size_t kAhead = 2;
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  std::int64_t oldest() const { return enqueued_ - static_cast<std::int64_t>(count_); }
  Step& at(std::int64_t number) const { return *ring_[static_cast<std::size_t>(number) % ring_.size()]; }

  bool several_ranks_;
  std::vector<std::unique_ptr<Step>> ring_;  // one more, whose end is when the oldest began
  std::int64_t enqueued_ = 0;
  std::size_t count_ = 0;
  std::int64_t stop_after_ = kNever;  // the last step
  bool paused_ = true;
};

}  // namespace swinscope
