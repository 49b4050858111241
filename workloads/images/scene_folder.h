// Pictures with a label for each pixel, in the layout of ADE20K's scene parsing benchmark (Zhou et al. 2017):
//   FOLDER/images/training/NAME.jpg        FOLDER/annotations/training/NAME.png
//   FOLDER/images/validation/NAME.jpg      FOLDER/annotations/validation/NAME.png
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "workloads/images/image_files.h"
#include "workloads/images/label_mask.h"

namespace swinscope {

// Classes of ADE20K, for a folder that does not say.
inline constexpr int kAde20kClasses = 150;

struct SceneFiles {
  std::filesystem::path image;
  std::filesystem::path mask;
};

struct SceneFolders {
  int classes = kAde20kClasses;   // FOLDER/dataset.json's, where that is there
  std::vector<SceneFiles> train;  // by name
  std::vector<SceneFiles> validation;
  std::vector<SkippedPath> skipped;  // pictures without a mask, and folders that cannot be read
};

// Throws WorkloadError (kInput) for a folder that has no training pictures with masks, or a dataset.json with a number
// of classes that masks cannot hold.
SceneFolders read_scene_folders(const std::filesystem::path& folder);

// From a file's labels to the classes' numbers: 0 (nothing said) and 255 become 255, which is ignored; label v is class
// v - 1. Throws WorkloadError (kInput) for a label beyond the classes; `name` is for messages.
void label_classes(LabelMask& mask, int classes, const std::string& name);

}  // namespace swinscope
