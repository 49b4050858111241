// One rank of the tests in device_ranks_test.cpp: trains a small model on its device and writes what it has computed.
// Built twice: with devices in host memory and processes that sum up for them, and with GPUs and NCCL.
//
// usage: device_rank_worker OUT.safetensors BATCH_PER_RANK [--precision P] [--reduce P] [--accumulate N] [--graph 1]
//        [--task segmentation] [--all-reduce MODE] [--die STEP] [--hang STEP] [--stop STEP] [--steps N]
//        [--hang-after MILLISECONDS]
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "workloads/cuda/device_ranks.h"
#include "workloads/cuda/device_trainer.h"
#include "workloads/cuda/element_type.h"
#include "workloads/data/synthetic_scenes.h"
#include "workloads/error.h"
#include "workloads/images/procedural.h"
#include "workloads/redraw.h"
#include "workloads/safetensors_writer.h"
#include "workloads/synthetic_data.h"
#ifdef SWINSCOPE_HOST_DEVICE
#include "tests/unit/workloads/host_ranks.h"
#endif

namespace swinscope {
namespace {

struct WorkerOptions {
  std::string out;
  std::int64_t batch = 1;
  std::map<std::string, std::string> others;

  std::string text(const std::string& name, const std::string& absent) const {
    const auto found = others.find("--" + name);
    return found == others.end() ? absent : found->second;
  }
  std::int64_t number(const std::string& name, std::int64_t absent) const {
    return std::atoll(text(name, std::to_string(absent)).c_str());
  }
};

Precision precision_named(const std::string& name) {
  if (name == "fp16") return Precision::kFp16;
  return name == "bf16" ? Precision::kBf16 : Precision::kFp32;
}

// Heads of 32 channels, as the kernels for 16 bits have them.
SwinConfig worker_model(const WorkerOptions& worker) {
  SwinConfig config = find_model("swin_nano");
  config.image_size = 32;
  config.embed_dim = 64;
  if (worker.text("task", "") != "segmentation") return config;
  config.task = Task::kSegmentation;
  config.classes = kSceneClasses;
  config.head_channels = 32;
  return config;
}

DeviceTrainerOptions trainer_options(const WorkerOptions& worker, const std::string& all_reduce) {
  DeviceTrainerOptions options;
  options.precision = precision_named(worker.text("precision", "fp32"));
  options.reduce_type = element_type_of(precision_named(worker.text("reduce", "fp32")));
  options.reduce_by_copies = all_reduce == kAllReduceCopies;
  options.features = find_level(worker.number("graph", 0) > 0 ? "graph" : "attention").features;
  options.trainer.batch_per_rank = worker.batch;
  options.trainer.accumulate = worker.number("accumulate", 1);
  options.trainer.total_steps = 8;
  options.trainer.drop_path = 0.3;
  options.trainer.bucket_bytes = 65536;
  if (worker.text("task", "") == "segmentation") options.trainer.label_smoothing = 0.0;
  return options;
}

void train(const WorkerOptions& worker, const std::string& all_reduce, DeviceCommunicator* ranks,
           Communicator& processes) {
  constexpr std::int64_t kDataset = 64;
  const SwinConfig config = worker_model(worker);
  const std::uint64_t rank = ranks == nullptr ? 0 : static_cast<std::uint64_t>(ranks->rank());
  ParameterStore<float> store(config, false);
  // Other ranks start from other values: they must take rank 0's.
  redraw_parameters(store, 5 + rank);
  const DeviceTrainerOptions options = trainer_options(worker, all_reduce);
  DeviceTrainer trainer(config, options, store, ranks);
  SyntheticData images(config, kDataset, 1);
  SyntheticScenes scenes(config.image_size, 8, 1);
  std::optional<StreamedFeed> streamed;
  if (config.task == Task::kSegmentation) {
    streamed.emplace(scenes, config, worker.batch, trainer.element_type());
  } else {
    streamed.emplace(images, config, worker.batch, trainer.element_type());
  }
  BatchFeed& feed = *streamed;
  std::map<std::string, std::vector<double>> results;
  results["by_copies"] = {options.reduce_by_copies ? 1.0 : 0.0};
  const auto account = [&](bool wait) {
    bool stop = false;
    for (const FinishedStep& step : trainer.finished(wait)) {
      results["loss"].push_back(step.result.loss);
      results["accuracy"].push_back(step.result.accuracy);
      results["norm"].push_back(step.result.gradient_norm);
      stop = stop || step.result.stop;
    }
    return stop;
  };
  const std::int64_t steps = worker.number("steps", 4);
  bool stop = false;
  for (std::int64_t step = 0; step < steps && !stop; ++step) {
    if (step == worker.number("die", -1)) std::raise(SIGKILL);
    if (step == worker.number("hang", -1)) std::this_thread::sleep_for(std::chrono::hours(1));
    trainer.step(feed, step >= worker.number("stop", steps));
    processes.advance();
    stop = account(step == 0 || step + 1 == steps);
    if (step > 0) continue;
    const std::vector<float> gradients = trainer.gradients();
    results["gradients"].assign(gradients.begin(), gradients.end());
  }
  account(true);
  const Evaluation evaluation = trainer.evaluate(feed, kDataset);
  results["evaluation"] = {evaluation.loss, evaluation.accuracy, static_cast<double>(evaluation.images),
                           evaluation.mean_iou.value_or(0.0)};
  std::vector<float> buffers(store.buffers().size());
  trainer.download_buffers(buffers);
  results["buffers"].assign(buffers.begin(), buffers.end());
  std::vector<float> values(store.values().size());
  std::vector<float> first(values.size());
  std::vector<float> second(values.size());
  const DeviceTrainingState state = trainer.download(values, first, second);
  // What only the leading rank has goes to all.
  if (rank > 0) {
    std::ranges::fill(values, 0.0F);
    std::ranges::fill(first, 0.0F);
    std::ranges::fill(second, 0.0F);
  }
  DeviceTrainingState restored;
  restored.steps_done = state.steps_done;
  if (rank == 0) restored = state;
  trainer.upload(restored, values, first, second);
  const DeviceTrainingState there = trainer.download(values, first, second);
  results["parameters"].assign(values.begin(), values.end());
  results["second_moments"].assign(second.begin(), second.end());
  results["state"] = {static_cast<double>(there.steps_done), static_cast<double>(there.updates), there.loss_scale};
  std::vector<TensorSource> tensors;
  tensors.reserve(results.size());
  for (const auto& [name, numbers] : results)
    tensors.push_back({name, {static_cast<std::int64_t>(numbers.size())}, {}, numbers});
  write_safetensors(worker.out, tensors, {});
}

void run(const WorkerOptions& worker) {
  RankInfo info = discover_rank();
#ifndef SWINSCOPE_HOST_DEVICE
  info = take_gpu(info);
#endif
  std::string all_reduce = worker.text("all-reduce", kAllReduceKernels);
  if (info.size == 1) return train(worker, all_reduce, nullptr, *make_single_rank());
  RendezvousOptions rendezvous;
  rendezvous.standstill = std::chrono::milliseconds(worker.number("hang-after", 0));
  rendezvous.folder = process_environment("SWINSCOPE_RUN_DIR");
#ifdef SWINSCOPE_HOST_DEVICE
  const auto group = connect_ranks(info, {}, rendezvous);
  test::HostRanks host(*group);
  DeviceCommunicator* const ranks = &host;
#else
  GpuRankOptions gpus{rendezvous};
  gpus.all_reduce = all_reduce;
  const auto group = connect_gpus(info, {}, gpus);
  all_reduce = choose_all_reduce(group->meeting());
  DeviceCommunicator* const ranks = group->gpus();
#endif
  try {
    train(worker, all_reduce, ranks, *group);
  } catch (const std::exception& error) {
    group->report_failure(error.what());
    throw;
  }
}

}  // namespace
}  // namespace swinscope

int main(int argc, char** argv) {
  swinscope::WorkerOptions worker;
  worker.out = argv[1];
  worker.batch = std::atoll(argv[2]);
  for (int i = 3; i + 1 < argc; i += 2)
    worker.others[argv[i]] = argv[i + 1];
  try {
    swinscope::run(worker);
    return 0;
  } catch (const swinscope::WorkloadError& error) {
    std::fputs(swinscope::format_error(error).c_str(), stderr);
    return static_cast<int>(error.kind());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
