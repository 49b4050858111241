// One rank of the tests in process_group_test.cpp: trains a small model and writes what it has computed. Takes its rank
// from the environment, as any rank does.
//
// usage: workloads_rank_worker OUT.safetensors BATCH_PER_RANK [--die STEP | --fail STEP | --broken-pipe STEP |
//        --model NAME]
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/unit/workloads/loss_harness.h"
#include "workloads/error.h"
#include "workloads/process_group.h"
#include "workloads/safetensors_writer.h"
#include "workloads/synthetic_data.h"
#include "workloads/trainer.h"

namespace swinscope {
namespace {

constexpr std::int64_t kSteps = 4;

struct WorkerOptions {
  std::string out;
  std::int64_t batch = 1;
  std::int64_t die_at = -1;
  std::int64_t fail_at = -1;
  std::int64_t broken_pipe_at = -1;
  std::string model = "small";
};

template <typename T>
void train(const WorkerOptions& worker, SwinVersion version, Communicator& communicator,
           std::map<std::string, std::vector<double>>& results) {
  const SwinConfig config = test::small_nano(version);
  ParameterStore<T> store(config, true);
  // Other ranks start from other values: they must take rank 0's.
  redraw_parameters(store, 5 + static_cast<std::uint64_t>(communicator.rank()));
  SyntheticData data(config, 64, 1);
  TrainerOptions options;
  options.batch_per_rank = worker.batch;
  options.total_steps = kSteps;
  options.drop_path = 0.2;
  options.bucket_bytes = 16384;
  Trainer<T> trainer(config, options, data, store, communicator);
  const std::string precision = sizeof(T) == sizeof(double) ? "fp64" : "fp32";
  for (std::int64_t step = 0; step < kSteps; ++step) {
    if (step == worker.die_at) std::raise(SIGKILL);
    if (step == worker.broken_pipe_at) std::raise(SIGPIPE);
    if (step == worker.fail_at) throw std::runtime_error("the disk of this rank is full");
    results[precision + ".loss"].push_back(trainer.step().loss);
    if (step == 0) results[precision + ".gradients"].assign(store.gradients().begin(), store.gradients().end());
  }
  results[precision + ".parameters"].assign(store.values().begin(), store.values().end());
}

void train_all(const WorkerOptions& worker, Communicator& communicator) {
  std::map<std::string, std::vector<double>> results;
  // V2's redrawn attention is sharp (scores reach 100), which fp32 feels beyond what summing in another order explains.
  train<float>(worker, SwinVersion::kV1, communicator, results);
  train<double>(worker, SwinVersion::kV2, communicator, results);
  std::vector<TensorSource> tensors;
  tensors.reserve(results.size());
  for (const auto& [name, values] : results) {
    tensors.push_back({name, {static_cast<std::int64_t>(values.size())}, {}, values});
  }
  write_safetensors(worker.out, tensors, {});
}

void run(const WorkerOptions& worker) {
  const RankInfo info = discover_rank();
  if (info.size == 1) return train_all(worker, *make_single_rank());
  RendezvousOptions options;
  options.folder = process_environment("SWINSCOPE_RUN_DIR");
  const auto group = connect_ranks(info, {{"model", worker.model}}, options);
  try {
    train_all(worker, *group);
  } catch (const std::exception& error) {
    group->report_failure(error.what());
    throw;
  }
}

WorkerOptions parse(int argc, char** argv) {
  WorkerOptions worker;
  worker.out = argv[1];
  worker.batch = std::atoll(argv[2]);
  for (int i = 3; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--die") worker.die_at = std::atoll(argv[i + 1]);
    if (name == "--fail") worker.fail_at = std::atoll(argv[i + 1]);
    if (name == "--broken-pipe") worker.broken_pipe_at = std::atoll(argv[i + 1]);
    if (name == "--model") worker.model = argv[i + 1];
  }
  return worker;
}

}  // namespace
}  // namespace swinscope

int main(int argc, char** argv) {
  try {
    swinscope::run(swinscope::parse(argc, argv));
    return 0;
  } catch (const swinscope::WorkloadError& error) {
    std::fputs(swinscope::format_error(error).c_str(), stderr);
    return static_cast<int>(error.kind());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
