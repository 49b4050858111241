// The GPU commands of a build without CUDA.

#include "workloads/error.h"
#include "workloads/program/commands.h"
#include "workloads/program/device_commands.h"
#include "workloads/program/training_engine.h"

namespace swinscope {
namespace {

[[noreturn]] void refuse(const char* what) {
  throw WorkloadError(WorkloadErrorKind::kUsage, std::string(what) + ": this build has no CUDA parts", {},
                      "install the CUDA toolkit (12.8 or newer), configure with -DSWINSCOPE_CUDA=ON and build again; "
                      "--device cpu works without");
}

}  // namespace

int infer_on_device(const InferOptions& /*options*/, const SwinConfig& /*config*/) { refuse("--device cuda"); }
int quantize_on_device(const QuantizeOptions& /*options*/) { refuse("swin quantize"); }

RankInfo check_device_training(TrainOptions& /*options*/, const SwinConfig& /*config*/, const RankInfo& /*rank*/) {
  refuse("--device cuda");
}
std::unique_ptr<ProcessGroup> connect_devices(const RankInfo& /*rank*/, const RankConfiguration& /*configuration*/,
                                              const RendezvousOptions& /*rendezvous*/, TrainOptions& /*options*/) {
  refuse("--device cuda");
}
std::unique_ptr<TrainingEngine> make_device_engine(const TrainOptions& /*options*/, const SwinConfig& /*config*/,
                                                   const TrainingStart& /*start*/, TrainingData& /*data*/,
                                                   Communicator& /*communicator*/) {
  refuse("--device cuda");
}

void add_verify_command(Program& program) {
  Command& command = program.add_command("verify", "Check the GPU kernels and models (not in this build)");
  command.accept_any_words();
  command.does([]() -> int { refuse("swin verify"); });
}

void add_peaks_command(Program& program) {
  Command& command = program.add_command("peaks", "Measure what this GPU reaches (not in this build)");
  command.accept_any_words();
  command.does([]() -> int { refuse("swin peaks"); });
}

}  // namespace swinscope
