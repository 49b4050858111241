#include "collector/cupti/cupti_flusher.h"

#include <pthread.h>

#include "collector/base/clock.h"
#include "collector/sampling/last_thread.h"

namespace swinscope {

CuptiFlusher::CuptiFlusher(CuptiApi& api) : api_(api), thread_([this] { run(); }) {}

CuptiFlusher::~CuptiFlusher() {
  stop_.store(true, std::memory_order_relaxed);
  wanted_.release();
  thread_.join();
}

void CuptiFlusher::run() {
  pthread_setname_np(pthread_self(), "swinscope-flush");
  const OurThread counted;
  for (;;) {
    wanted_.acquire();
    if (stop_.load(std::memory_order_relaxed)) return;
    api_.flush(cupti::kFlushReady);
    cpu_ns_.store(clock_ns(CLOCK_THREAD_CPUTIME_ID), std::memory_order_relaxed);
    done_.release();
  }
}

}  // namespace swinscope
