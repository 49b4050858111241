#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "workloads/error.h"
#include "workloads/initialize.h"
#include "workloads/model_cost.h"
#include "workloads/process_group.h"
#include "workloads/program/commands.h"
#include "workloads/program/interrupt.h"
#include "workloads/program/run_options.h"
#include "workloads/program/step_times.h"
#include "workloads/synthetic_data.h"
#include "workloads/trainer.h"

namespace swinscope {
namespace {

constexpr std::int64_t kProgressLines = 10;

struct TrainOptions {
  RunOptions run;
  TrainerOptions trainer;
  std::string data = "synthetic";
  std::int64_t dataset_size = 1024;
  std::filesystem::path run_folder;
  double bucket_mib = 4.0;
};

struct TrainResult {
  StepTimes times;
  std::vector<StepResult> steps;  // all, warm-up included
  std::int64_t skipped = 0;
};

// What must be the same on all ranks for their gradients to belong together.
RankConfiguration agreed_configuration(const TrainOptions& options, const SwinConfig& config) {
  return {{"program", "swin train"},
          {"model", std::string(config.name)},
          {"image", std::to_string(config.image_size)},
          {"precision", options.run.precision},
          {"batch-per-gpu", std::to_string(options.run.batch)},
          {"steps", std::to_string(options.run.steps)},
          {"warmup", std::to_string(options.run.warmup)},
          {"seed", std::to_string(options.run.seed)},
          {"data", fmt::format("{} ({})", options.data, options.dataset_size)},
          {"lr", fmt::format("{}", options.trainer.learning_rate)},
          {"lr-warmup", std::to_string(options.trainer.warmup_steps)},
          {"weight-decay", fmt::format("{}", options.trainer.optimizer.weight_decay)},
          {"clip-norm", fmt::format("{}", options.trainer.optimizer.clip_norm)},
          {"label-smoothing", fmt::format("{}", options.trainer.label_smoothing)},
          {"drop-path", fmt::format("{}", options.trainer.drop_path)},
          {"bucket-mib", fmt::format("{}", options.bucket_mib)}};
}

void print_progress(const TrainOptions& options, std::int64_t step, const StepResult& result,
                    std::int64_t duration_ns) {
  const std::int64_t total = options.trainer.total_steps;
  const std::int64_t every = std::max<std::int64_t>(1, total / kProgressLines);
  if (step % every != 0 && step + 1 != total) return;
  fmt::print(stderr, "step {}/{}: loss {:.4f}, accuracy {:.1f}%, gradient norm {:.3f}, {:.1f} ms{}\n", step + 1, total,
             result.loss, 100.0 * result.accuracy, result.gradient_norm, static_cast<double>(duration_ns) * 1e-6,
             result.skipped ? ", skipped: the gradient is not finite" : "");
}

template <typename T>
TrainResult run_training(const TrainOptions& options, const SwinConfig& config, Communicator& communicator) {
  ParameterStore<T> store(config, true);
  if (!load_given_weights(options.run, store)) initialize_parameters(store, config.version, options.run.seed);
  SyntheticData data(config, options.dataset_size, options.run.seed);
  Trainer<T> trainer(config, options.trainer, data, store, communicator);
  const bool talks = communicator.rank() == 0 && !options.run.quiet;
  TrainResult result;
  communicator.barrier();
  for (std::int64_t step = 0; step < options.trainer.total_steps; ++step) {
    const std::int64_t start_ns = now_ns();
    result.steps.push_back(trainer.step(interrupted()));
    const std::int64_t duration_ns = now_ns() - start_ns;
    if (step >= options.run.warmup) result.times.add(duration_ns);
    result.skipped += result.steps.back().skipped ? 1 : 0;
    if (talks) print_progress(options, step, result.steps.back(), duration_ns);
    if (result.steps.back().stop) break;
  }
  return result;
}

void print_summary(const TrainOptions& options, const SwinConfig& config, const RankInfo& rank, int threads,
                   const TrainResult& result) {
  constexpr std::int64_t kForwardAndBackward = 3;  // a product has two gradient products
  const std::int64_t images = options.run.batch * rank.size;
  nlohmann::ordered_json row = summarize(result.times, images, kForwardAndBackward * model_cost(config).flops());
  row["steps_done"] = result.steps.size();
  row["loss_first"] = result.steps.front().loss;
  row["loss_last"] = result.steps.back().loss;
  row["accuracy_last"] = result.steps.back().accuracy;
  row["steps_skipped"] = result.skipped;
  if (options.run.json) {
    nlohmann::ordered_json document = start_document("swin.train/1", options.run, config, rank, threads);
    document["run"]["data"] = options.data;
    if (result.skipped > 0) document["warnings"].push_back("steps with a gradient that is not finite were skipped");
    if (result.steps.back().stop) document["warnings"].push_back("interrupted");
    document["data"].push_back(std::move(row));
    fmt::print("{}\n", document.dump(2));
  } else if (!result.times.empty()) {
    fmt::print(
        "{} on {} rank{}: {:.2f} images/s, {:.3f} ms a step of {} images (median of {}), loss {:.4f} -> {:.4f}\n",
        config.name, rank.size, rank.size == 1 ? "" : "s", row["images_per_second"].get<double>(),
        row["step_time_median_ns"].get<double>() * 1e-6, images, result.times.count(), result.steps.front().loss,
        result.steps.back().loss);
  }
}

int train_as_rank(const TrainOptions& options, const SwinConfig& config, const RankInfo& rank,
                  Communicator& communicator, int sharing) {
  const int threads = use_threads(options.run, sharing);
  catch_interrupts();  // only now: while ranks still meet, Ctrl+C just ends this one
  const TrainResult result = options.run.precision == "fp64" ? run_training<double>(options, config, communicator)
                                                             : run_training<float>(options, config, communicator);
  if (rank.rank == 0) print_summary(options, config, rank, threads, result);
  return result.steps.back().stop ? kInterruptedStatus : 0;
}

RendezvousOptions rendezvous_options(const TrainOptions& options) {
  const char* const run_folder = process_environment("SWINSCOPE_RUN_DIR");
  RendezvousOptions rendezvous = default_rendezvous();
  if (options.run_folder.empty() && run_folder == nullptr) return rendezvous;
  rendezvous.folder = (options.run_folder.empty() ? std::filesystem::path(run_folder) : options.run_folder) / "ranks";
  rendezvous.temporary = false;
  return rendezvous;
}

int train(TrainOptions options) {
  const SwinConfig config = resolve_config(options.run);
  require_cpu(options.run);
  options.trainer.batch_per_rank = options.run.batch;
  options.trainer.total_steps = options.run.warmup + options.run.steps;
  options.trainer.seed = options.run.seed;
  options.trainer.bucket_bytes = static_cast<std::int64_t>(options.bucket_mib * 1024 * 1024);
  const RankInfo rank = discover_rank();
  if (rank.size == 1) return train_as_rank(options, config, rank, *make_single_rank(), 1);
  const std::unique_ptr<ProcessGroup> group =
      connect_ranks(rank, agreed_configuration(options, config), rendezvous_options(options));
  try {
    return train_as_rank(options, config, rank, *group, group->meeting().ranks_sharing_cpus());
  } catch (const std::exception& error) {
    group->report_failure(error.what());
    throw;
  }
}

}  // namespace

Command add_train_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("train", "Train on synthetic images, on one rank or as one of several");
  const auto options = std::make_shared<TrainOptions>();
  add_run_options(*command, options->run, "--batch-per-gpu,--batch");
  TrainerOptions& trainer = options->trainer;
  command->add_option("--data", options->data, "synthetic")->check(CLI::IsMember({"synthetic"}))->capture_default_str();
  command->add_option("--dataset-size", options->dataset_size, "number of different images")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--lr", trainer.learning_rate, "peak learning rate")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--lr-warmup", trainer.warmup_steps, "steps of linear warm-up of the learning rate")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--weight-decay", trainer.optimizer.weight_decay)
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--clip-norm", trainer.optimizer.clip_norm, "clip gradients to this norm; 0: do not")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--label-smoothing", trainer.label_smoothing)->check(CLI::Range(0.0, 1.0))->capture_default_str();
  command->add_option("--drop-path", trainer.drop_path, "stochastic depth of the last block")
      ->check(CLI::Range(0.0, 0.99))
      ->capture_default_str();
  command->add_option("--bucket-mib", options->bucket_mib, "gradient bucket of one all-reduce")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--run-dir", options->run_folder,
                      "folder where ranks meet (default: SWINSCOPE_RUN_DIR, else temporary)");
  return [options] { return train(*options); };
}

}  // namespace swinscope
