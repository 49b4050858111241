#include "workloads/gradient_reducer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace swinscope {

template <typename T>
GradientReducer<T>::GradientReducer(std::span<T> gradients, std::int64_t bucket_bytes, Communicator& communicator)
    : communicator_(communicator) {
  if (communicator.size() == 1) return;
  const std::size_t length = std::max<std::size_t>(1, static_cast<std::size_t>(bucket_bytes) / sizeof(T));
  for (std::size_t begin = 0; begin < gradients.size(); begin += length) {
    const std::span<T> values = gradients.subspan(begin, std::min(length, gradients.size() - begin));
    const auto bytes = static_cast<std::int64_t>(values.size_bytes());
    const ShapeExtents extents = {static_cast<std::int64_t>(values.size())};
    const OperationPayload payload =
        make_payload({0, bytes, bytes}, OperationClass::kCommunication, precision_of<T>(), extents, extents);
    buckets_.push_back({values,
                        static_cast<std::int64_t>(begin + values.size()),
                        {RangeName(fmt::format("allreduce.bucket{}", buckets_.size() + 1)), payload, payload}});
  }
  thread_ = std::thread([this] { run(); });
}

template <typename T>
GradientReducer<T>::~GradientReducer() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

template <typename T>
void GradientReducer<T>::ready(std::int64_t end) {
  if (buckets_.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    while (final_ < buckets_.size() && buckets_[final_].end <= end)
      ++final_;
  }
  changed_.notify_all();
}

template <typename T>
void GradientReducer<T>::wait() {
  if (buckets_.empty()) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return summed_ == buckets_.size() || error_; });
  if (error_) std::rethrow_exception(error_);
  final_ = 0;
  summed_ = 0;
}

template <typename T>
void GradientReducer<T>::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || summed_ < final_; });
    if (stop_) return;
    Bucket& bucket = buckets_[summed_];
    lock.unlock();
    std::exception_ptr error;
    try {
      reduce(bucket);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    ++summed_;
    if (error) error_ = error;
    changed_.notify_all();
    if (error_) return;
  }
}

template <typename T>
void GradientReducer<T>::reduce(Bucket& bucket) {
  const OperationRange range(bucket.operation.name, bucket.operation.forward);
  communicator_.all_reduce_sum(bucket.values);
}

template class GradientReducer<float>;
template class GradientReducer<double>;

}  // namespace swinscope
