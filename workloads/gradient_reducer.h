// Sums gradients over the ranks while the backward pass still runs: the flat gradient buffer, which becomes final from
// front to back, is cut into buckets, and a thread all-reduces each as soon as it is final.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "workloads/annotate.h"
#include "workloads/communicator.h"

namespace swinscope {

// T is float or double.
template <typename T>
class GradientReducer {
 public:
  // With one rank there is no thread and nothing is done.
  GradientReducer(std::span<T> gradients, std::int64_t bucket_bytes, Communicator& communicator);
  ~GradientReducer();
  GradientReducer(const GradientReducer&) = delete;
  GradientReducer& operator=(const GradientReducer&) = delete;
  GradientReducer(GradientReducer&&) = delete;
  GradientReducer& operator=(GradientReducer&&) = delete;

  // All gradients before `end` are final (GradientsReady of a backward pass). The communicator belongs to the reducer
  // from the first call until wait() returns.
  void ready(std::int64_t end);
  // Waits until all buckets are summed; all must have become ready. Throws what the communicator threw.
  void wait();

  std::size_t bucket_count() const { return buckets_.size(); }

 private:
  struct Bucket {
    std::span<T> values;
    std::int64_t end = 0;  // position in the flat buffer
    Operation operation;
  };

  void run();
  void reduce(Bucket& bucket);

  Communicator& communicator_;
  std::vector<Bucket> buckets_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t final_ = 0;   // buckets that may be summed
  std::size_t summed_ = 0;  // buckets that are
  bool stop_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace swinscope
