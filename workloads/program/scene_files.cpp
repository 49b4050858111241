#include "workloads/program/scene_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "workloads/error.h"
#include "workloads/images/prepare_pair.h"
#include "workloads/images/scene_folder.h"
#include "workloads/model_cost.h"
#include "workloads/program/file_report.h"
#include "workloads/program/say.h"

namespace swinscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShownClasses = 3;

[[noreturn]] void refuse_mask(const fs::path& mask, const std::string& why) {
  throw WorkloadError(WorkloadErrorKind::kInput, fmt::format("{}: not the picture's mask", mask.string()),
                      fmt::format("its mask {}: {}", mask.string(), why));
}

LabelMask read_expected(const fs::path& mask, const RgbImage& picture, int classes) {
  LabelMask expected;
  try {
    expected = decode_mask(read_bytes(mask), mask.string());
    label_classes(expected, classes, mask.string());
  } catch (const WorkloadError& error) {
    refuse_mask(mask, error.cause());
  }
  if (expected.width != picture.width || expected.height != picture.height) {
    refuse_mask(mask, fmt::format("{} x {} pixels, the picture has {} x {}", expected.width, expected.height,
                                  picture.width, picture.height));
  }
  return expected;
}

// The classes with the most pixels.
std::string largest_classes(const SegmentedScene& scene) {
  std::vector<std::size_t> order(scene.shares.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&scene](std::size_t label) { return scene.shares[label]; });
  std::string text;
  for (std::size_t i = 0; i < std::min(kShownClasses, order.size()) && scene.shares[order[i]] > 0.0; ++i)
    text += fmt::format("{}class {} {:.1f} %", i > 0 ? ", " : "", order[i], 100.0 * scene.shares[order[i]]);
  return text;
}

nlohmann::ordered_json describe(const SegmentedScene& scene) {
  nlohmann::ordered_json row = {{"file", scene.file}, {"width", scene.width}, {"height", scene.height}};
  row["shares"] = nlohmann::ordered_json::object();
  for (std::size_t label = 0; label < scene.shares.size(); ++label) {
    if (scene.shares[label] > 0.0) row["shares"][std::to_string(label)] = scene.shares[label];
  }
  if (scene.accuracy) row["accuracy"] = *scene.accuracy;
  return row;
}

nlohmann::ordered_json describe(const SceneRun& run, const std::vector<SkippedPath>& skipped, const RunOptions& options,
                                const SwinConfig& config) {
  nlohmann::ordered_json row = summarize(run.times, options.batch, model_cost(config).flops());
  row["files_segmented"] = run.scenes.size();
  row["files_skipped"] = skipped.size();
  if (run.judged) {
    row["mean_iou"] = run.confusion.mean_iou();
    row["accuracy"] = run.confusion.pixel_accuracy();
    row["iou"] = nlohmann::ordered_json::array();
    for (const double value : run.confusion.iou())
      row["iou"].push_back(value < 0.0 ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(value));
  }
  row["files"] = nlohmann::ordered_json::array();
  for (const SegmentedScene& scene : run.scenes)
    row["files"].push_back(describe(scene));
  row["skipped"] = describe_skipped(skipped);
  return row;
}

void print_table(const SceneRun& run, const std::vector<SkippedPath>& skipped, const RunOptions& options) {
  for (const SegmentedScene& scene : run.scenes) {
    fmt::print("{}  {} x {}  {}{}\n", scene.file, scene.width, scene.height, largest_classes(scene),
               scene.accuracy ? fmt::format("  accuracy {:.1f} %", 100.0 * *scene.accuracy) : std::string());
  }
  if (run.judged) {
    fmt::print("mean IoU {:.2f} %, accuracy {:.2f} % of the pixels of {} pictures\n", 100.0 * run.confusion.mean_iou(),
               100.0 * run.confusion.pixel_accuracy(), run.scenes.size());
  }
  if (options.quiet || run.times.empty()) return;
  say("{} files segmented, {} skipped; {:.3f} ms a batch of {} (median of {})\n", run.scenes.size(), skipped.size(),
      run.times.percentile_ns(0.5) * 1e-6, options.batch, run.times.count());
}

}  // namespace

SceneReader::SceneReader(const fs::path& images, fs::path annotations, const SwinConfig& config)
    : annotations_(std::move(annotations)), config_(config) {
  FoundFiles found = find_jpeg_files(images);
  files_ = std::move(found.files);
  skipped_ = std::move(found.skipped);
  std::error_code error;
  if (fs::is_directory(images, error)) root_ = images;
  if (!annotations_.empty() && !fs::exists(annotations_, error)) {
    throw WorkloadError(WorkloadErrorKind::kInput, fmt::format("{}: cannot be read", annotations_.string()),
                        "there is no such file or folder", "--annotations names a folder with NAME.png for NAME.jpg");
  }
}

std::vector<ReadScene> SceneReader::next(std::int64_t count, std::span<float> images) {
  const auto size = static_cast<std::size_t>(config_.image_size);
  const std::size_t elements = 3 * size * size;
  std::vector<ReadScene> scenes;
  while (at_ < files_.size() && static_cast<std::int64_t>(scenes.size()) < count) {
    const fs::path& file = files_[at_++];
    try {
      scenes.push_back(read(file, images.subspan(scenes.size() * elements, elements)));
    } catch (const WorkloadError& error) {
      skipped_.push_back({file, error.cause()});
    }
  }
  return scenes;
}

ReadScene SceneReader::read(const fs::path& file, std::span<float> image) const {
  const std::vector<std::uint8_t> bytes = read_bytes(file);
  const RgbImage picture = JpegDecoder(bytes, file.string()).decode();
  ReadScene scene{
      file, root_.empty() ? file.filename() : file.lexically_relative(root_), picture.width, picture.height, {}};
  scene.mask.replace_extension(".png");
  if (!annotations_.empty()) {
    std::error_code error;
    const bool one_file = root_.empty() && fs::is_regular_file(annotations_, error);
    scene.expected = read_expected(one_file ? annotations_ : annotations_ / scene.mask, picture, config_.classes);
  }
  prepare_scene(picture, config_.image_size, image);
  return scene;
}

void SceneRun::add(const ReadScene& scene, const LabelMask& answer) {
  SegmentedScene segmented{scene.file.string(), scene.width, scene.height, {}, {}};
  segmented.shares.resize(static_cast<std::size_t>(classes));
  for (const std::uint8_t label : answer.labels)
    segmented.shares[label] += 1.0 / static_cast<double>(answer.labels.size());
  if (scene.expected) {
    confusion.add(scene.expected->labels, answer.labels);
    Confusion own(classes);
    own.add(scene.expected->labels, answer.labels);
    segmented.accuracy = own.pixel_accuracy();
  }
  scenes.push_back(std::move(segmented));
}

void make_answer_folder(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder, error) && (!fs::is_directory(folder, error) || !fs::is_empty(folder, error))) {
    throw WorkloadError(WorkloadErrorKind::kUsage, fmt::format("--output {}: is not empty", folder.string()), {},
                        "name a new or an empty folder");
  }
  fs::create_directories(folder, error);
  if (error) {
    throw WorkloadError(WorkloadErrorKind::kFailure, fmt::format("--output {}: cannot be made", folder.string()),
                        error.message(), {});
  }
}

void write_answer(const fs::path& file, const LabelMask& answer) {
  const auto refuse = [&file](const std::string& why) {
    throw WorkloadError(WorkloadErrorKind::kFailure, fmt::format("{}: cannot be written", file.string()), why, {});
  };
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (error) refuse(error.message());
  if (fs::exists(file, error)) refuse("it is the mask of another picture, whose name differs in its extension only");
  LabelMask labels = answer;
  for (std::uint8_t& label : labels.labels)
    ++label;
  const std::vector<std::uint8_t> png = encode_mask(labels);
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(png.data()), static_cast<std::streamsize>(png.size()));
  out.close();
  if (!out) refuse(std::strerror(errno));
}

void print_scene_run(const SceneRun& run, const std::vector<SkippedPath>& skipped, const RunOptions& options,
                     const SwinConfig& config, nlohmann::ordered_json document) {
  warn_of_skipped(run.scenes.size(), skipped, document);
  if (options.json) {
    document["data"].push_back(describe(run, skipped, options, config));
    print_document(document);
  } else {
    print_table(run, skipped, options);
  }
}

}  // namespace swinscope
