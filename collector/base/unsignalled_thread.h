// A thread of ours beside others' code: signals are for the threads that were there before.
#pragma once

#include <csignal>
#include <thread>
#include <utility>

#include <pthread.h>

namespace swinscope {

// All signals are blocked in the new thread, and as they were in this one. Throws std::system_error where there can be
// no further thread.
template <typename Body>
std::thread start_unsignalled(Body body) {
  // Put back on every way out.
  struct Mask {
    Mask() {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    Mask(const Mask&) = delete;
    Mask& operator=(const Mask&) = delete;
    Mask(Mask&&) = delete;
    Mask& operator=(Mask&&) = delete;
    ~Mask() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }

    sigset_t before{};
  };
  const Mask mask;
  return std::thread(std::move(body));
}

}  // namespace swinscope
