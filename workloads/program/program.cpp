#include "workloads/program/program.h"

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "options/completion.h"
#include "workloads/error.h"
#include "workloads/program/commands.h"

namespace swinscope {
namespace {

constexpr int kUsageStatus = 2;

int run(const std::vector<std::string>& words) {
  Program program("swin", "Instrumented Swin Transformer workloads");
  add_list_command(program);
  add_infer_command(program);
  add_train_command(program);
  add_verify_command(program);
  add_make_data_command(program);
  add_peaks_command(program);
  add_completion(program);
  try {
    return program.parse(words) ? program.chosen()->run() : 0;
  } catch (const OptionError& error) {
    std::fprintf(stderr, "%s\nRun with --help for more information.\n", error.what());
    return kUsageStatus;
  }
}

}  // namespace

int run_swin(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const WorkloadError& error) {
    std::fputs(format_error(error).c_str(), stderr);
    return static_cast<int>(error.kind());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}

}  // namespace swinscope
