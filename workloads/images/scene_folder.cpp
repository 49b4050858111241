#include "workloads/images/scene_folder.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "workloads/error.h"

namespace swinscope {
namespace {

namespace fs = std::filesystem;

constexpr int kMostClasses = 254;  // a label is class + 1, and 255 is ignored
constexpr std::uint8_t kIgnored = 255;

int classes_of(const fs::path& folder) {
  const fs::path file = folder / "dataset.json";
  std::ifstream in(file);
  if (!in) return kAde20kClasses;
  const auto set = nlohmann::json::parse(in, nullptr, false);
  const auto refuse = [&file](const std::string& why) {
    throw WorkloadError(WorkloadErrorKind::kInput, fmt::format("{}: does not describe the set", file.string()), why,
                        "make the set anew, or remove the file from ADE20K's own");
  };
  if (!set.is_object() || !set.contains("classes") || !set["classes"].is_number_integer()) {
    refuse("it has no whole number under \"classes\"");
  }
  const auto classes = set["classes"].get<std::int64_t>();
  if (classes < 1 || classes > kMostClasses) {
    refuse(fmt::format("{} classes; masks of 8 bits tell 1 to {} apart", classes, kMostClasses));
  }
  return static_cast<int>(classes);
}

std::vector<SceneFiles> pairs_of(const fs::path& folder, const char* part, SceneFolders& result) {
  std::error_code error;
  const fs::path images = folder / "images" / part;
  if (!fs::is_directory(images, error)) return {};
  FoundFiles found = list_jpeg_files(images);
  std::ranges::move(found.skipped, std::back_inserter(result.skipped));
  std::vector<SceneFiles> pairs;
  for (fs::path& image : found.files) {
    fs::path mask = folder / "annotations" / part / image.lexically_relative(images);
    mask.replace_extension(".png");
    if (fs::is_regular_file(mask, error)) {
      pairs.push_back({std::move(image), std::move(mask)});
    } else {
      result.skipped.push_back({std::move(image), fmt::format("its mask {} is not there", mask.string())});
    }
  }
  return pairs;
}

}  // namespace

SceneFolders read_scene_folders(const fs::path& folder) {
  SceneFolders result;
  result.train = pairs_of(folder, "training", result);
  result.validation = pairs_of(folder, "validation", result);
  if (result.train.empty()) {
    throw WorkloadError(
        WorkloadErrorKind::kInput, fmt::format("{}: no pictures with masks to train on", folder.string()),
        result.skipped.empty()
            ? "there is no .jpg file in images/training"
            : fmt::format("{}: {}", result.skipped.front().path.string(), result.skipped.front().reason),
        "expected are images/training/NAME.jpg and annotations/training/NAME.png, as ADE20K has them; `swin make-data "
        "--task segmentation` writes such a set");
  }
  result.classes = classes_of(folder);
  return result;
}

void label_classes(LabelMask& mask, int classes, const std::string& name) {
  for (std::uint8_t& label : mask.labels) {
    if (label == kIgnored) continue;
    if (label > classes) {
      throw WorkloadError(WorkloadErrorKind::kInput, fmt::format("{}: not a mask of this set", name),
                          fmt::format("it has the label {}, and the set has {} classes", label, classes), {});
    }
    label = label == 0 ? kIgnored : static_cast<std::uint8_t>(label - 1);
  }
}

}  // namespace swinscope
