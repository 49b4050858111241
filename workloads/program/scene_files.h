// What `swin infer --task segmentation --images` reads, writes and says.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "workloads/confusion.h"
#include "workloads/images/image_files.h"
#include "workloads/images/label_mask.h"
#include "workloads/models/model_table.h"
#include "workloads/program/run_options.h"
#include "workloads/program/step_times.h"

namespace swinscope {

struct ReadScene {
  std::filesystem::path file;
  std::filesystem::path mask;  // its path below the folder of the masks: NAME.png
  int width = 0;
  int height = 0;
  std::optional<LabelMask> expected;  // with classes for labels
};

// Goes through pictures, and their masks where there are any, and leaves out those that cannot be read.
class SceneReader {
 public:
  // `images`: a JPEG file, or a folder of them; `annotations`: a folder with NAME.png for each NAME.jpg, or the mask of
  // the one file; or empty. Throws WorkloadError (kInput) for a path that cannot be read.
  SceneReader(const std::filesystem::path& images, std::filesystem::path annotations, const SwinConfig& config);

  // Fills images [up to `count`, 3, size, size], each picture fitted into the square at the top left; fewer than
  // `count` only at the end.
  std::vector<ReadScene> next(std::int64_t count, std::span<float> images);
  const std::vector<SkippedPath>& skipped() const { return skipped_; }

 private:
  ReadScene read(const std::filesystem::path& file, std::span<float> image) const;

  std::filesystem::path root_;  // of the pictures; empty for a single one
  std::filesystem::path annotations_;
  SwinConfig config_;
  std::vector<std::filesystem::path> files_;
  std::vector<SkippedPath> skipped_;
  std::size_t at_ = 0;
};

struct SegmentedScene {
  std::string file;
  int width = 0;
  int height = 0;
  std::vector<double> shares;      // of the pixels, by class
  std::optional<double> accuracy;  // share of the labelled pixels that were answered right
};

struct SceneRun {
  explicit SceneRun(int class_count) : classes(class_count), confusion(class_count) {}
  void add(const ReadScene& scene, const LabelMask& answer);

  int classes;
  StepTimes times;
  std::vector<SegmentedScene> scenes;
  bool judged = false;
  Confusion confusion;  // of all scenes, at their own sizes
};

// Throws WorkloadError (kUsage) for a folder that holds something, kFailure for one that cannot be made.
void make_answer_folder(const std::filesystem::path& folder);
// As a PNG file that holds class + 1, as the masks of the data do. Throws WorkloadError (kFailure): the disk says no,
// or another picture has a mask of that name.
void write_answer(const std::filesystem::path& file, const LabelMask& answer);

// Throws WorkloadError (kInput) where no file could be read.
void print_scene_run(const SceneRun& run, const std::vector<SkippedPath>& skipped, const RunOptions& options,
                     const SwinConfig& config, nlohmann::ordered_json document);

}  // namespace swinscope
