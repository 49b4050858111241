#include "cli/examples.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace swinscope::cli {
namespace {

constexpr const char* kRun =
    "RUN is a trace file, a run folder, an Nsight Systems .sqlite export or a PyTorch trace (.json, .json.gz).\n\n";

// Command, then its lines without `swinscope`.
constexpr std::array<std::pair<std::string_view, std::string_view>, 32> kExamples = {{
    {"record",
     "record -o run -- python3 train.py\nrecord --trace cuda,nvtx,nccl -o run -- torchrun --nproc_per_node 2 train.py"},
    {"trigger", "trigger run"},
    {"scale",
     "scale --gpus 1,2,4 --repeat 3 -o runs/weak -- python3 train.py --batch {batch}\nscale --cpus-only --gpus 1,2 -o "
     "runs/cpu -- swin train --model swin_nano"},
    {"sweep", "sweep --vary gpus=1,2 --vary batch=4,8 -o runs/batches -- python3 train.py --batch {batch}"},
    {"join", "join -o runs/joined gpus=1:run1 gpus=2:run2 --timing steps.csv"},
    {"import", "import trace.json.gz -o run\nimport report.sqlite -o run"},
    {"info", "info run"},
    {"analyze", "analyze run\nanalyze run --table gaps,idle --top 20\nanalyze run --format json"},
    {"kernels", "kernels run --top 20\nkernels run --by operation\nkernels run -i --filter 'gemm|conv' --sort calls"},
    {"layers", "layers run --depth 2\nlayers trace.json.gz --by-shape"},
    {"ranges", "ranges run\nranges run --depth 2 --by-rank"},
    {"ranks", "ranks run"},
    {"stragglers", "stragglers run"},
    {"collectives", "collectives run --sort wait_ns"},
    {"launches", "launches run"},
    {"gaps", "gaps run --top 10\ngaps run --filter input"},
    {"roofline", "roofline run --top 10"},
    {"critical-path", "critical-path run"},
    {"advise", "advise run\nadvise run --apply graph,fusion"},
    {"peaks", "peaks\npeaks --rates rates.json"},
    {"compare", "compare base.json.gz run.json.gz --top 20\ncompare runs/weak --beside thesis"},
    {"gate", "gate base.db run.db --fail-above 5%"},
    {"platforms", "platforms --filter H200"},
    {"predict", "predict runs/weak --gpus 16,64 --price 3.5"},
    {"query", "query run \"SELECT name, sql FROM sqlite_master\""},
    {"export", "export run --format perfetto -o run.json"},
    {"report", "report run -o report.html\nreport run --bundle figures"},
    {"gui", "gui run"},
    {"launch", "launch --ranks 2 -- ./program"},
    {"mcp", "mcp --root runs"},
    {"doctor", "doctor"},
    {"completion", "completion bash"},
}};

std::string indented(std::string_view lines) {
  std::string text = "  swinscope ";
  for (const char c : lines)
    text += c == '\n' ? std::string("\n  swinscope ") : std::string(1, c);
  return text;
}

}  // namespace

void add_examples(Program& program) {
  for (const auto& command : program.commands()) {
    const auto found = std::find_if(kExamples.begin(), kExamples.end(),
                                    [&](const auto& example) { return example.first == command->name(); });
    if (found == kExamples.end()) continue;  // a test sees to that
    command->set_footer((command->find("RUN") ? kRun : "") + std::string("Examples:\n") + indented(found->second));
  }
}

}  // namespace swinscope::cli
