// Threads of the library in a program: they must not keep it alive when its own have all ended.
#pragma once

namespace swinscope {

// For a thread of ours: counts it while it runs.
class OurThread {
 public:
  OurThread();
  OurThread(const OurThread&) = delete;
  OurThread& operator=(const OurThread&) = delete;
  OurThread(OurThread&&) = delete;
  OurThread& operator=(OurThread&&) = delete;
  ~OurThread();
};

// The main thread has left by pthread_exit, and no thread of the program is left but ours. Looks a few times a second
// at most.
bool is_only_ours_left();

}  // namespace swinscope
