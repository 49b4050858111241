// A labelled set of pictures as torchvision's ImageFolder reads it: a folder for each class, numbered by name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "workloads/images/image_files.h"

namespace swinscope {

struct LabelledFile {
  std::filesystem::path file;
  std::int32_t label = 0;
};

struct ImageFolder {
  std::vector<std::string> classes;  // by name; the index is the label
  std::vector<LabelledFile> files;   // by class, then by name
  std::vector<SkippedPath> skipped;  // folders that cannot be read
};

// Throws WorkloadError (kInput) for a folder that cannot be read, or has no folder with JPEG files in it.
ImageFolder read_image_folder(const std::filesystem::path& folder);

struct ImageFolders {
  ImageFolder train;
  ImageFolder validation;  // empty without one
};

// `folder`/train and `folder`/val (or validation) where they are, else all of it for training. The validation part has
// the training part's labels; throws WorkloadError (kInput) if it has a class that the other has not.
ImageFolders read_train_and_validation(const std::filesystem::path& folder);

}  // namespace swinscope
