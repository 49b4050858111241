#include "workloads/program/interrupt.h"

#include <csignal>

namespace swinscope {
namespace {

volatile std::sig_atomic_t requested = 0;

extern "C" void on_signal(int /*number*/) { requested = 1; }

}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return requested != 0; }

}  // namespace swinscope
