#include "workloads/cuda/steps_in_flight.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace swinscope {
namespace {

std::int64_t nanoseconds(const cuda::Event& begin, const cuda::Event& end) {
  return static_cast<std::int64_t>(1e6 * static_cast<double>(cuda::Event::milliseconds(begin, end)));
}

}  // namespace

StepsInFlight::StepsInFlight(std::int64_t batches_each, bool several_ranks) : several_ranks_(several_ranks) {
  for (std::size_t i = 0; i < kAhead + 1; ++i)
    ring_.push_back(std::make_unique<Step>(static_cast<std::size_t>(batches_each)));
}

void StepsInFlight::restart(std::int64_t step) {
  enqueued_ = step;
  stop_after_ = kNever;
  paused_ = true;
}

bool StepsInFlight::oldest_is_due() const { return stop_after_ < enqueued_ || at(oldest()).ended.happened(); }

StepsInFlight::Step& StepsInFlight::begin(cuda::Stream stream) {
  Step& step = at(enqueued_);
  step.data_ns = 0;
  step.fresh = std::exchange(paused_, false);
  if (step.fresh) step.begun.record(stream);
  return step;
}

void StepsInFlight::end(const DeviceControl* control, cuda::Stream stream) {
  Step& step = at(enqueued_);
  cuda::copy_async_to_host(step.outcome.data(), control, sizeof(DeviceControl), stream);
  step.ended.record(stream);
  ++enqueued_;
  ++count_;
}

const DeviceControl& StepsInFlight::wait() const {
  const Step& step = at(oldest());
  step.ended.wait();
  return *static_cast<const DeviceControl*>(step.outcome.data());
}

FinishedStep StepsInFlight::take() {
  const std::int64_t number = oldest();
  const Step& step = at(number);
  const auto& outcome = *static_cast<const DeviceControl*>(step.outcome.data());
  const auto count = static_cast<double>(outcome.sums.count);
  FinishedStep done;
  done.result.loss = outcome.sums.loss / count;
  done.result.accuracy = static_cast<double>(outcome.sums.correct) / count;
  done.result.gradient_norm = outcome.state.gradient_norm;
  done.result.learning_rate = step.learning_rate;
  done.result.data_ns = step.data_ns;
  for (const Input& input : step.inputs)
    done.result.input_wait_ns += nanoseconds(input.asked, input.arrived);
  done.result.skipped = !std::isfinite(outcome.state.gradient_norm);
  if (outcome.stop > 0) stop_after_ = std::min(stop_after_, several_ranks_ ? number + 1 : number);
  done.result.stop = number >= stop_after_;
  // The step before, whose place in the ring is not taken again yet.
  const cuda::Event& before = step.fresh ? step.begun : at(number + static_cast<std::int64_t>(ring_.size()) - 1).ended;
  done.duration_ns = nanoseconds(before, step.ended);
  --count_;
  return done;
}

}  // namespace swinscope
