// swin make-data: the procedural set as files, and how far a linear model comes on it.
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/parallel.h"
#include "workloads/data/linear_probe.h"
#include "workloads/error.h"
#include "workloads/images/image_folder.h"
#include "workloads/images/procedural.h"
#include "workloads/images/procedural_set.h"
#include "workloads/program/commands.h"
#include "workloads/program/interrupt.h"
#include "workloads/program/run_options.h"
#include "workloads/program/say.h"

namespace swinscope {
namespace {

struct MakeDataOptions {
  std::filesystem::path folder;
  ProceduralSetOptions set;
  std::int64_t images = 20000;
  double validation_share = 0.1;
  bool probe = false;
  bool force = false;
  bool json = false;
  bool quiet = false;
};

// Whether the files are all there at the end; false: interrupted.
bool write_set(const MakeDataOptions& options) {
  const std::int64_t total = options.set.train_images + options.set.validation_images;
  return write_procedural_set(options.folder, options.set, [&](std::int64_t done) {
    if (!options.quiet && (done % 2000 == 0 || done == total)) say("{} of {} pictures\n", done, total);
    return !interrupted();
  });
}

void make_room(const MakeDataOptions& options, ProceduralSetState state) {
  if (state == ProceduralSetState::kForeign) {
    throw WorkloadError(WorkloadErrorKind::kUsage,
                        fmt::format("{}: holds something else than a set of ours", options.folder.string()), {},
                        "name a folder that is empty or not there yet");
  }
  if (state != ProceduralSetState::kOther) return;
  if (!options.force) {
    throw WorkloadError(
        WorkloadErrorKind::kUsage,
        fmt::format("{}: holds a set that is incomplete or was made with other options", options.folder.string()),
        "dataset.json in it says which", "--force makes it anew");
  }
  remove_procedural_set(options.folder);
}

nlohmann::ordered_json probe(const MakeDataOptions& options) {
  const ImageFolders folders = read_train_and_validation(options.folder);
  const ProbeResult result = run_linear_probe(load_probe_data(folders.train), load_probe_data(folders.validation),
                                              static_cast<int>(folders.train.classes.size()));
  if (!options.json) {
    fmt::print(
        "linear probe on {0} x {0} pixels: {1:.1f} % of held-out pictures right ({2:.1f} % of those it learned "
        "from; always the same answer: {3:.1f} %)\n",
        kProbeSize, 100.0 * result.held_out_accuracy, 100.0 * result.train_accuracy, 100.0 * result.chance);
  }
  return {{"pixels", kProbeSize},
          {"held_out_accuracy", result.held_out_accuracy},
          {"train_accuracy", result.train_accuracy},
          {"chance", result.chance},
          {"weight_decay", result.weight_decay}};
}

int make_data(MakeDataOptions options) {
  options.set.validation_images = std::llround(static_cast<double>(options.images) * options.validation_share);
  options.set.train_images = options.images - options.set.validation_images;
  if (options.set.scenes && options.probe) {
    throw WorkloadError(WorkloadErrorKind::kUsage, "--probe is for --task classification",
                        "it fits a linear model of whole pictures", {});
  }
  const int classes = options.set.scenes ? kSceneClasses : kProceduralClasses;
  if (options.set.threads == 0) options.set.threads = cpu::thread_count();
  cpu::set_thread_count(options.set.threads);
  const ProceduralSetState state = look_at_procedural_set(options.folder, options.set);
  const bool there = state == ProceduralSetState::kComplete && !options.force;
  catch_interrupts();
  if (!there) {
    make_room(options, state);
    if (!write_set(options)) {
      say("interrupted: {} is incomplete\n", options.folder.string());
      return kInterruptedStatus;
    }
  }
  nlohmann::ordered_json row = {{"folder", options.folder.string()},
                                {"task", options.set.scenes ? "segmentation" : "classification"},
                                {"classes", classes},
                                {"train_images", options.set.train_images},
                                {"validation_images", options.set.validation_images},
                                {"size", options.set.size},
                                {"seed", options.set.seed},
                                {"written", !there}};
  if (!options.json) {
    fmt::print("{}: {} training and {} validation pictures of {} classes{}\n", options.folder.string(),
               options.set.train_images, options.set.validation_images, classes, there ? ", already there" : "");
  }
  if (options.probe) row["linear_probe"] = probe(options);
  if (options.json) {
    const nlohmann::ordered_json document = {
        {"schema", "swin.make-data/1"}, {"warnings", nlohmann::ordered_json::array()}, {"data", {row}}};
    fmt::print("{}\n", document.dump(2));
  }
  return 0;
}

}  // namespace

void add_make_data_command(Program& program) {
  Command& command = program.add_command("make-data", "Write a labelled set of JPEG pictures to train on");
  const auto options = std::make_shared<MakeDataOptions>();
  command.option("folder", options->folder, "folder to write the pictures below").required();
  const auto task = std::make_shared<std::string>("classification");
  command
      .option(
          "--task", *task,
          "classification: one figure a picture, train/CLASS/*.jpg and val/CLASS/*.jpg; segmentation: scenes with a "
          "label for each pixel, in ADE20K's layout (images/ and annotations/)")
      .one_of({"classification", "segmentation"})
      .show_default();
  command.option("--images", options->images, "pictures of both parts together")
      .within(std::int64_t{1}, std::int64_t{100'000'000})
      .show_default();
  command.option("--validation", options->validation_share, "share of them that is held out")
      .within(0.0, 0.9)
      .show_default();
  command.option("--size", options->set.size, "pixels along a side").within(32, 4096).show_default();
  command.option("--quality", options->set.quality, "of the JPEG files").within(1, 100).show_default();
  command.option("--seed", options->set.seed).show_default();
  command.option("--threads", options->set.threads, "CPU threads (default: the CPUs allowed)").positive();
  command.flag("--probe", options->probe,
               "also fit a linear model to the pixels: what it reaches needs no vision model");
  command.flag("--force", options->force, "make a set of ours that is there anew");
  command.flag("--json", options->json, "print the summary as JSON");
  command.flag("-q,--quiet", options->quiet, "no progress on stderr");
  options->set.threads = 0;
  command.does([options, task] {
    options->set.scenes = parse_task(*task) == Task::kSegmentation;
    return make_data(*options);
  });
}

}  // namespace swinscope
