// swin infer --task segmentation, on whatever device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "workloads/annotate.h"
#include "workloads/models/model_table.h"
#include "workloads/parameters.h"
#include "workloads/program/device_commands.h"
#include "workloads/program/scene_files.h"
#include "workloads/rank_info.h"

namespace swinscope {

// A model on its device.
class SceneSegmenter {
 public:
  SceneSegmenter() = default;
  virtual ~SceneSegmenter() = default;
  SceneSegmenter(const SceneSegmenter&) = delete;
  SceneSegmenter& operator=(const SceneSegmenter&) = delete;
  SceneSegmenter(SceneSegmenter&&) = delete;
  SceneSegmenter& operator=(SceneSegmenter&&) = delete;

  // images: [batch, 3, size, size]. May return before it is done.
  virtual void forward(std::span<const float> images) = 0;
  // Of the last batch. Whether all logits of an image are finite.
  virtual bool finite(std::int64_t image) = 0;
  // [side, side]: its classes, with the logits enlarged to a square of that side.
  virtual std::vector<std::uint8_t> answer(std::int64_t image, std::int64_t side) = 0;
  virtual Precision precision() const = 0;
};

// Sets what the task decides. Throws WorkloadError (kUsage) for what only classification has, and for options that are
// missing another one; kInput for weights that cannot be read.
void prepare_scene_inference(const InferOptions& options, SwinConfig& config);

// Options for segmentation where the task is another: throws WorkloadError (kUsage).
void refuse_scene_options(const InferOptions& options);

// --weights or, without them, random parameters and the statistics of a normalization that changes nothing.
template <typename T>
void fill_scene_parameters(const RunOptions& options, ParameterStore<T>& store);

// As start_document(), with what segmentation has beside.
nlohmann::ordered_json scene_document(const InferOptions& options, const SwinConfig& config, const RankInfo& rank,
                                      int threads);

// On the CPU: segments the files of --images as segment_files() does, or measures --steps batches of synthetic scenes.
// Prints the summary and returns the exit status.
int infer_scenes(const InferOptions& options, const SwinConfig& config);

// The files of --images; makes the folder of --output. Throws WorkloadError for either.
SceneReader open_scenes(const InferOptions& options, const SwinConfig& config);
// Segments them once, batch by batch, names and counts what cannot be read, writes masks where --output says so, and
// judges them where --annotations are given. Prints the summary. Throws WorkloadError: kInput where no file can be
// read, kFailure where logits are not finite or a mask cannot be written. Returns the exit status: that of damaged
// input when files were skipped.
int segment_files(const InferOptions& options, const SwinConfig& config, SceneReader& reader, SceneSegmenter& segmenter,
                  nlohmann::ordered_json document);

}  // namespace swinscope
