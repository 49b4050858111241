#include "cli/last_resort.h"

#include <csignal>
#include <cstring>
#include <new>
#include <string_view>

#include <execinfo.h>
#include <unistd.h>

namespace swinscope::cli {
namespace {

char** command_to_be = nullptr;
sigset_t mask_at_start;

void become_command_without_memory() {
  constexpr std::string_view kWhy =
      "swinscope: the command could not be recorded (out of memory); the command runs all the same\n";
  [[maybe_unused]] const ssize_t said = write(STDERR_FILENO, kWhy.data(), kWhy.size());
  pthread_sigmask(SIG_SETMASK, &mask_at_start, nullptr);
  execvp(command_to_be[0], command_to_be);
  std::set_new_handler(nullptr);  // no such command: it is told as ever
}

}  // namespace

void prepare_last_resort(int argc, char** argv) {
  void* frame = nullptr;
  backtrace(&frame, 1);
  if (argc < 2 || std::strcmp(argv[1], "record") != 0) return;
  for (int i = 2; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "--") != 0) continue;
    command_to_be = argv + i + 1;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask_at_start);
    std::set_new_handler(&become_command_without_memory);
    return;
  }
}

}  // namespace swinscope::cli
