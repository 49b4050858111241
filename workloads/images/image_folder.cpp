#include "workloads/images/image_folder.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "workloads/error.h"

namespace swinscope {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& folder, const std::string& what, const std::string& why,
                         const std::string& hint = {}) {
  throw WorkloadError(WorkloadErrorKind::kInput, fmt::format("{}: {}", folder.string(), what), why, hint);
}

std::vector<fs::path> subfolders(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> found;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored)) found.push_back(entry->path());
  }
  if (error) refuse(folder, "cannot be read", error.message());
  std::ranges::sort(found);
  return found;
}

void add_class(const fs::path& folder, ImageFolder& result) {
  FoundFiles found = list_jpeg_files(folder);
  std::ranges::move(found.skipped, std::back_inserter(result.skipped));
  if (found.files.empty()) return;
  const auto label = static_cast<std::int32_t>(result.classes.size());
  result.classes.push_back(folder.filename().string());
  for (fs::path& file : found.files)
    result.files.push_back({std::move(file), label});
}

// Gives the files of `part` the labels of `classes`.
void relabel(const fs::path& folder, const std::vector<std::string>& classes, ImageFolder& part) {
  std::vector<std::int32_t> labels;
  for (const std::string& name : part.classes) {
    const auto found = std::ranges::find(classes, name);
    if (found == classes.end()) {
      refuse(folder / name, "a class that the training part has not",
             fmt::format("{} classes are known", classes.size()), "both parts need folders of the same names");
    }
    labels.push_back(static_cast<std::int32_t>(found - classes.begin()));
  }
  for (LabelledFile& file : part.files)
    file.label = labels.at(static_cast<std::size_t>(file.label));
  part.classes = classes;
}

}  // namespace

ImageFolder read_image_folder(const fs::path& folder) {
  ImageFolder result;
  for (const fs::path& subfolder : subfolders(folder))
    add_class(subfolder, result);
  if (result.files.empty()) {
    refuse(folder, "no labelled pictures",
           result.skipped.empty()
               ? "there is no folder with .jpg or .jpeg files in it"
               : fmt::format("{}: {}", result.skipped.front().path.string(), result.skipped.front().reason),
           "pictures are expected as CLASS/NAME.jpg; `swin make-data` writes such a set");
  }
  return result;
}

ImageFolders read_train_and_validation(const fs::path& folder) {
  std::error_code error;
  const fs::path train = folder / "train";
  if (fs::is_directory(folder / "images", error) && fs::is_directory(folder / "annotations", error)) {
    refuse(folder, "pictures without a class of their own", "images/ and annotations/ are a set for segmentation",
           "pictures are expected as CLASS/NAME.jpg; `swin make-data --task classification` writes such a set");
  }
  if (!fs::is_directory(train, error)) return {read_image_folder(folder), {}};
  ImageFolders result{read_image_folder(train), {}};
  for (const char* name : {"val", "validation"}) {
    if (!fs::is_directory(folder / name, error)) continue;
    result.validation = read_image_folder(folder / name);
    relabel(folder / name, result.train.classes, result.validation);
    break;
  }
  return result;
}

}  // namespace swinscope
