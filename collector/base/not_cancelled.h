// Calls of ours within a program's own must not be where a cancelled thread ends: NVTX's functions are no cancellation
// points, files and pauses are, and unwinding through functions that throw nothing ends the process. A request stays
// pending until the program's next own point.
#pragma once

#include <pthread.h>

namespace swinscope {

class NotCancelled {
 public:
  NotCancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  NotCancelled(const NotCancelled&) = delete;
  NotCancelled& operator=(const NotCancelled&) = delete;
  NotCancelled(NotCancelled&&) = delete;
  NotCancelled& operator=(NotCancelled&&) = delete;
  ~NotCancelled() { pthread_setcancelstate(before_, nullptr); }

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace swinscope
