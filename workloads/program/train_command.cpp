#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "workloads/checkpoint.h"
#include "workloads/error.h"
#include "workloads/process_group.h"
#include "workloads/program/commands.h"
#include "workloads/program/interrupt.h"
#include "workloads/program/run_options.h"
#include "workloads/program/train_input.h"
#include "workloads/program/train_options.h"
#include "workloads/program/train_session.h"
#include "workloads/program/train_summary.h"
#include "workloads/program/training_engine.h"

namespace swinscope {
namespace {

// A bucket is worth its messages; on a GPU, the kernel that sums it up, too.
constexpr double kBucketMib = 4.0;
constexpr double kGpuBucketMib = 25.0;

// What must be the same on all ranks for their gradients to belong together.
RankConfiguration agreed_configuration(const TrainOptions& options, const SwinConfig& config) {
  RankConfiguration agreed = {{"program", "swin train"},
                              {"model", std::string(config.name)},
                              {"image", std::to_string(config.image_size)},
                              {"precision", options.run.precision},
                              {"batch-per-gpu", std::to_string(options.run.batch)},
                              {"steps", std::to_string(options.run.steps)},
                              {"warmup", std::to_string(options.run.warmup)},
                              {"seed", std::to_string(options.run.seed)},
                              {"classes", std::to_string(config.classes)},
                              {"images", std::to_string(options.dataset_size)},
                              {"crop-area", fmt::format("{}", options.crop_area)},
                              {"accumulate", std::to_string(options.trainer.accumulate)},
                              {"lr", fmt::format("{}", options.trainer.learning_rate)},
                              {"lr-warmup", std::to_string(options.trainer.warmup_steps)},
                              {"weight-decay", fmt::format("{}", options.trainer.optimizer.weight_decay)},
                              {"clip-norm", fmt::format("{}", options.trainer.optimizer.clip_norm)},
                              {"label-smoothing", fmt::format("{}", options.trainer.label_smoothing)},
                              {"drop-path", fmt::format("{}", options.trainer.drop_path)},
                              {"bucket-mib", fmt::format("{}", options.bucket_mib)},
                              {"reduce-precision", options.reduce_precision}};
  // What checkpoints are older than has an entry only where it is not as it was then: other sums, windows, another
  // task.
  if (options.may_reduce_by_copies()) agreed["all-reduce"] = options.all_reduce;
  if (options.qat) agreed["qat"] = "yes";
  if (config.window != find_model(config.name).window) agreed["window"] = std::to_string(config.window);
  if (config.task == Task::kSegmentation) {
    agreed["task"] = fmt::format("segmentation {}", config.head_channels);
    agreed["tap-fusion"] = options.trainer.tap_fusion ? "yes" : "no";
  }
  return agreed;
}

int exit_status(const TrainResult& result) {
  if (!result.steps.empty() && result.steps.back().stop) return kInterruptedStatus;
  return result.checkpoint_failure.empty() ? 0 : static_cast<int>(WorkloadErrorKind::kFailure);
}

int train_as_rank(const TrainOptions& options, const SwinConfig& config, const RankInfo& rank,
                  Communicator& communicator, int sharing) {
  const int threads = use_threads(options.run, sharing);
  catch_interrupts();  // only now: while ranks still meet, Ctrl+C just ends this one
  std::map<std::string, std::string> settings = agreed_configuration(options, config);
  settings["ranks"] = std::to_string(rank.size);
  const TrainResult result = run_training(options, config, settings, communicator);
  if (rank.rank == 0) print_train_summary(options, config, rank, threads, result);
  return exit_status(result);
}

RendezvousOptions rendezvous_options(const TrainOptions& options) {
  const char* const run_folder = process_environment("SWINSCOPE_RUN_DIR");
  RendezvousOptions rendezvous = default_rendezvous();
  rendezvous.standstill = std::chrono::milliseconds(static_cast<std::int64_t>(1e3 * options.hang_after));
  if (options.run_folder.empty() && run_folder == nullptr) return rendezvous;
  rendezvous.folder = (options.run_folder.empty() ? std::filesystem::path(run_folder) : options.run_folder) / "ranks";
  rendezvous.temporary = false;
  return rendezvous;
}

// What only classification has is refused where it was asked for, and left out where it is a default.
void prepare_segmentation(TrainOptions& options, SwinConfig& config) {
  const auto refuse = [](const char* option, const char* why) {
    throw WorkloadError(WorkloadErrorKind::kUsage, fmt::format("{} is for --task classification", option), why,
                        fmt::format("leave out {}", option));
  };
  if (options.run.precision == "fp64") refuse("--precision fp64", "segmentation is trained in fp32 and below");
  if (options.crop_area_given) refuse("--crop-area", "scenes are scaled by 1/2 to 2 and cut to the image size");
  if (options.label_smoothing_given && options.trainer.label_smoothing > 0.0)
    refuse("--label-smoothing", "every pixel has one class");
  if (options.trainer.accumulate > 1) {
    refuse("--accumulate", "batch normalization and the mean over the pixels are of one batch: more ranks enlarge it");
  }
  options.trainer.label_smoothing = 0.0;
  set_segmentation(options.run, options.head_channels, config);
  config.classes = kAde20kClasses;
}

void refuse_device_options(const TrainOptions& options) {
  if (!options.device_given) return;
  throw WorkloadError(WorkloadErrorKind::kUsage,
                      "--level, --with, --without, --recompute, --operations, --reduce-precision, "
                      "--qat, --all-reduce and --comm-blocks are for a GPU",
                      {}, "add --device cuda");
}

void require_sense(const TrainOptions& options) {
  if (options.resume && options.checkpoint.empty()) {
    throw WorkloadError(WorkloadErrorKind::kUsage, "--resume: from where?", {}, "add --checkpoint FOLDER");
  }
  if (!options.checkpoint.empty() && !options.resume && Checkpoint::find(options.checkpoint)) {
    throw WorkloadError(
        WorkloadErrorKind::kUsage,
        fmt::format("--checkpoint {}: holds the checkpoint of another training", options.checkpoint.string()), {},
        "--resume goes on with it; remove it or name another folder to start anew");
  }
}

// What kAllReduceAuto means as far as this rank knows alone: a training goes on as it was begun, and where there are
// not several GPUs it means nothing.
void settle_all_reduce(TrainOptions& options, const RankInfo& rank) {
  if (options.all_reduce != kAllReduceAuto) return;
  if (rank.rank == 0 && options.resume) {
    if (const std::optional<Checkpoint> checkpoint = Checkpoint::find(options.checkpoint)) {
      const auto kept = checkpoint->state().settings.find("all-reduce");
      options.all_reduce = kept == checkpoint->state().settings.end() ? kAllReduceKernels : kept->second;
      return;
    }
  }
  if (options.run.device == "cpu" || rank.size == 1) options.all_reduce = kAllReduceKernels;
}

// `global_batch`: images of a step on all ranks.
void choose_steps(TrainOptions& options, std::int64_t global_batch) {
  const std::int64_t images = options.epochs > 0 ? options.epochs * options.dataset_size : options.images;
  if (images > 0) {
    const std::int64_t steps = (images + global_batch - 1) / global_batch;
    options.run.warmup = std::min(options.run.warmup, steps);
    options.run.steps = steps - options.run.warmup;
  }
  options.trainer.total_steps = options.run.warmup + options.run.steps;
}

int train(TrainOptions options) {
  SwinConfig config = resolve_config(options.run);
  if (options.task == Task::kSegmentation) {
    prepare_segmentation(options, config);
  } else if (options.trainer.tap_fusion || options.head_channels > 0) {
    throw WorkloadError(WorkloadErrorKind::kUsage, "--tap-fusion and --head-channels are for segmentation", {},
                        "add --task segmentation");
  }
  open_data_folder(options, config);
  options.trainer.batch_per_rank = options.run.batch;
  options.trainer.seed = options.run.seed;
  RankInfo rank = discover_rank();
  const bool on_cpu = options.run.device == "cpu";
  if (options.bucket_mib == 0.0) options.bucket_mib = on_cpu ? kBucketMib : kGpuBucketMib;
  options.trainer.bucket_bytes = static_cast<std::int64_t>(options.bucket_mib * 1024 * 1024);
  if (on_cpu) {
    require_cpu(options.run);
    refuse_device_options(options);
  } else {
    rank = check_device_training(options, config, rank);
  }
  choose_steps(options, options.run.batch * options.trainer.accumulate * rank.size);
  const RankConfiguration agreed = agreed_configuration(options, config);
  if (rank.rank == 0) require_sense(options);
  settle_all_reduce(options, rank);
  if (rank.size == 1) return train_as_rank(options, config, rank, *make_single_rank(), 1);
  const RendezvousOptions rendezvous = rendezvous_options(options);
  const std::unique_ptr<ProcessGroup> group =
      on_cpu ? connect_ranks(rank, agreed, rendezvous) : connect_devices(rank, agreed, rendezvous, options);
  try {
    return train_as_rank(options, config, rank, *group, group->meeting().ranks_sharing_cpus());
  } catch (const std::exception& error) {
    group->report_failure(error.what());
    throw;
  }
}

}  // namespace

void add_train_command(Program& program) {
  Command& command =
      program.add_command("train", "Train on JPEG files or synthetic images, on one rank or as one of several");
  const auto options = std::make_shared<TrainOptions>();
  add_run_options(command, options->run, "--batch-per-gpu,--batch");
  TrainerOptions& trainer = options->trainer;
  const auto task = std::make_shared<std::string>("classification");
  add_task_option(command, *task);
  add_head_options(command, options->head_channels, trainer.tap_fusion);
  command
      .option("--data", options->data,
              "folder with CLASS/NAME.jpg, or with train/ and val/ of that kind; for segmentation one in ADE20K's "
              "layout; or synthetic")
      .show_default();
  command.option("--dataset-size", options->dataset_size, "synthetic: number of different images")
      .positive()
      .show_default();
  const Option epochs =
      command.option("--epochs", options->epochs, "train so often on all images, instead of --steps").positive();
  command.option("--images", options->images, "train on so many images, instead of --steps")
      .positive()
      .excludes(epochs)
      .excludes(command.get("--steps"));
  epochs.excludes(command.get("--steps"));
  command
      .option("--loader-threads", options->loader_threads,
              "threads that make images ready (default: as many as compute)")
      .positive();
  const Option crop_area =
      command.option("--crop-area", options->crop_area, "least share of a picture that a random crop shows")
          .within(0.01, 1.0)
          .show_default();
  command.option("--accumulate", trainer.accumulate, "batches whose gradients are added up for one update")
      .positive()
      .show_default();
  command.option("--checkpoint", options->checkpoint,
                 "folder to keep the state of the training in: after each epoch and at the end");
  command.option("--checkpoint-every", options->checkpoint_every, "steps from one checkpoint to the next").positive();
  command.flag("--resume", options->resume, "go on from the checkpoint, if there is one");
  command.option("--log", options->log, "file for a line of JSON for each step and epoch");
  command.option("--lr", trainer.learning_rate, "peak learning rate").not_negative().show_default();
  command.option("--lr-warmup", trainer.warmup_steps, "steps of linear warm-up of the learning rate")
      .not_negative()
      .show_default();
  command.option("--weight-decay", trainer.optimizer.weight_decay).not_negative().show_default();
  command.option("--clip-norm", trainer.optimizer.clip_norm, "clip gradients to this norm; 0: do not")
      .not_negative()
      .show_default();
  const Option label_smoothing =
      command.option("--label-smoothing", trainer.label_smoothing).within(0.0, 1.0).show_default();
  command.option("--drop-path", trainer.drop_path, "stochastic depth of the last block")
      .within(0.0, 0.99)
      .show_default();
  command.option("--bucket-mib", options->bucket_mib, "gradients that one all-reduce sums up (default: 4; on GPUs 25)")
      .positive();
  command.option("--gradients", options->gradients,
                 "write the last step's gradients to this safetensors file, before clipping");
  const std::vector<Option> for_device = {
      command
          .option("--level", options->level,
                  "cuda: rung of the ladder: eager, tensorcore, fused, window, attention, graph")
          .show_default(),
      command.option("--with", options->with, "cuda: features beside those of the level").separated_by(','),
      command.option("--without", options->without, "cuda: features of the level to leave out").separated_by(','),
      command.flag("--recompute", options->recompute,
                   "cuda: compute blocks once more in the backward pass instead of keeping their activations"),
      command.flag("--qat", options->qat,
                   "cuda: fine-tune for inference in fp8 or int8: products of 8 bits forward, 16 bits backward"),
      command
          .option("--reduce-precision", options->reduce_precision,
                  "cuda: gradients on their way between GPUs: fp32, or rounded to fp16 or bf16")
          .one_of({"fp32", "fp16", "bf16"})
          .show_default(),
      command
          .option("--all-reduce", options->all_reduce,
                  "cuda: how gradients are summed up between GPUs: by NCCL's kernels, or by copies, which leave "
                  "the multiprocessors to the backward pass (one machine, NCCL 2.28); auto: by copies where the "
                  "GPUs can, a training that goes on as it was begun")
          .one_of({kAllReduceAuto, kAllReduceKernels, kAllReduceCopies})
          .show_default(),
      command
          .option("--comm-blocks", options->comm_blocks,
                  "cuda: multiprocessors reserved for the all-reduce during the backward pass (default: NCCL decides, "
                  "none reserved)")
          .within(1, 64),
      command.flag("--operations", options->operations, "cuda: time of each operation of a step, at the end"),
  };
  command
      .option("--hang-after", options->hang_after,
              "seconds without a step after which ranks that wait for each other end; 0: never")
      .not_negative()
      .show_default();
  command.option("--run-dir", options->run_folder,
                 "folder where ranks meet (default: SWINSCOPE_RUN_DIR, else temporary)");
  command.does([options, task, for_device, crop_area, label_smoothing] {
    options->task = parse_task(*task);
    options->device_given = std::ranges::any_of(for_device, &Option::is_given);
    options->crop_area_given = crop_area.is_given();
    options->label_smoothing_given = label_smoothing.is_given();
    return train(*options);
  });
}

}  // namespace swinscope
