#include "workloads/program/program.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "options/completion.h"
#include "workloads/error.h"
#include "workloads/program/commands.h"

namespace swinscope {
namespace {

constexpr int kUsageStatus = 2;

constexpr std::array<std::pair<std::string_view, const char*>, 8> kExamples = {
    {{"list", "swin list"},
     {"infer", "swin infer --model swin_tiny --batch 1"},
     {"train", "swin train --model swin_nano --batch-per-gpu 4 --steps 100"},
     {"verify", "swin verify"},
     {"make-data", "swin make-data shapes --images 400"},
     {"peaks", "swin peaks --rates rates.json"},
     {"quantize", "swin quantize --model swin_base -o q.safetensors"},
     {"completion", "swin completion bash"}}};

void add_examples(Program& program) {
  for (const auto& command : program.commands()) {
    const auto example = std::ranges::find(kExamples, command->name(), [](const auto& e) { return e.first; });
    if (example != kExamples.end()) command->set_footer(std::string("Examples:\n  ") + example->second);
  }
}

int run(const std::vector<std::string>& words) {
  Program program("swin", "Instrumented Swin Transformer workloads");
  program.set_version("swin " SWINSCOPE_VERSION);
  add_list_command(program);
  add_infer_command(program);
  add_train_command(program);
  add_verify_command(program);
  add_make_data_command(program);
  add_peaks_command(program);
  add_quantize_command(program);
  add_completion(program);
  add_examples(program);
  try {
    return program.parse(words) ? program.chosen()->run() : 0;
  } catch (const OptionError& error) {
    const Command* const command = program.chosen();
    const std::string help = command == nullptr ? "swin --help" : "swin " + command->name() + " --help";
    const std::string what = words.empty() ? "no command is given" : error.what();
    std::fprintf(stderr, "error: %s\n  hint: `%s` says what it takes\n", what.c_str(), help.c_str());
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
