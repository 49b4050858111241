// A fork beside a thread that loads the library.
#include "collector/injected/loading.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

namespace swinscope {
namespace {

std::atomic<bool> is_forking = false;
std::atomic<bool> has_come_through = false;

TEST(Loading, AForkWaitsUntilTheThreadHasComeThrough) {
  loading_ends();  // this thread's, which has loaded the program
  // Handlers run in the opposite order: this one before the library's.
  ASSERT_EQ(pthread_atfork([] { is_forking = true; }, nullptr, nullptr), 0);
  std::atomic<bool> has_begun = false;
  std::thread loads([&] {
    loading_begins();
    has_begun = true;
    while (!is_forking)
      std::this_thread::yield();
    for (int i = 0; i < 1000; ++i)
      std::this_thread::yield();
    has_come_through = true;
    loading_ends();
  });
  while (!has_begun)
    std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) _exit(has_come_through ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  loads.join();
  EXPECT_EQ(status, 0) << "the child has no thread that would come through";
}

}  // namespace
}  // namespace swinscope
