#include "analyzer/experiment/likeness.h"

#include <fmt/format.h>

#include "store/error.h"

namespace swinscope {
namespace {

struct Size {
  double optimizer_ns = 0;
  double launches = 0;
};

// Per step.
Size size_of(const StepWork& work) {
  Size size;
  for (const WorkRow& row : work.rows) {
    if (row.operation == OperationKind::kOptimizer) size.optimizer_ns += work.per_step(row.all.exclusive_ns);
    size.launches += work.per_step(row.all.calls);
  }
  return size;
}

[[noreturn]] void refuse(const std::string& cause, const std::string& hint) {
  throw Error(ErrorKind::kUsage, "one experiment tells nothing of the other", cause, hint);
}

Size require_size(const ScalingRow& row) {
  const std::string folder = row.point.folder.string();
  if (!row.work)
    refuse(folder + ": was not traced", "measure it with `swinscope scale`, which traces a run of each point");
  const Size size = size_of(*row.work);
  if (size.optimizer_ns <= 0) {
    refuse(folder + ": no kernels of an optimizer are known, so neither are the bytes of its gradients",
           "measure training whose optimizer runs on the GPU");
  }
  return size;
}

}  // namespace

Likeness likeness(const ScalingRow& of, const ScalingRow& like) {
  if (of.point.gpus() != like.point.gpus()) {
    refuse(fmt::format("the fewest GPUs are {} in one and {} in the other", of.point.gpus(), like.point.gpus()),
           "measure both from the same number on: swinscope scale --gpus 1,2");
  }
  if (!of.gpu.empty() && !like.gpu.empty() && of.gpu != like.gpu)
    refuse(fmt::format("one ran on {}, the other on {}", of.gpu, like.gpu), "measure both on the same GPUs");
  const Size mine = require_size(of);
  const Size other = require_size(like);
  return {mine.optimizer_ns / other.optimizer_ns, mine.launches / other.launches,
          static_cast<double>(of.step_ns) / static_cast<double>(like.step_ns)};
}

double ratio_of(LossPart part, const Likeness& likeness) {
  switch (part) {
    case LossPart::kWire:
    case LossPart::kCommunication:
    case LossPart::kBeside:
    case LossPart::kWork:
    case LossPart::kCopies:
      return likeness.bytes;
    case LossPart::kGaps:
      return likeness.launches;
    case LossPart::kWait:
    case LossPart::kSlowed:
    case LossPart::kHost:
    case LossPart::kInput:
    case LossPart::kUnexplained:
    case LossPart::kSlowestRank:
      break;
  }
  return likeness.step;
}

std::string likeness_text(const Likeness& likeness) {
  return fmt::format("{:.2f} times its time in the optimizer, {:.2f} times its launches and {:.2f} times its step",
                     likeness.bytes, likeness.launches, likeness.step);
}

}  // namespace swinscope
