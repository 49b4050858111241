#include "workloads/images/procedural_set.h"

#include <atomic>
#include <exception>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "workloads/error.h"
#include "workloads/images/jpeg_encoder.h"
#include "workloads/images/procedural.h"

namespace swinscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDescription = "dataset.json";
constexpr const char* kSchema = "swin.dataset/1";
constexpr const char* kScenesKind = "procedural-scenes";
constexpr std::int64_t kProgressEvery = 200;

nlohmann::ordered_json describe(const ProceduralSetOptions& options) {
  nlohmann::ordered_json set;
  set["schema"] = kSchema;
  set["kind"] = options.scenes ? kScenesKind : "procedural";
  set["classes"] = options.scenes ? kSceneClasses : kProceduralClasses;
  set["train_images"] = options.train_images;
  set["validation_images"] = options.validation_images;
  set["size"] = options.size;
  set["quality"] = options.quality;
  set["seed"] = options.seed;
  return set;
}

void write_file(const fs::path& file, const void* bytes, std::size_t size) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  out.close();
  if (out) return;
  throw WorkloadError(WorkloadErrorKind::kFailure, fmt::format("{}: cannot be written", file.string()),
                      "the disk is full or the folder is not writable", {});
}

void write_description(const fs::path& folder, const ProceduralSetOptions& options, bool complete) {
  nlohmann::ordered_json set = describe(options);
  set["complete"] = complete;
  const std::string text = set.dump(2) + "\n";
  write_file(folder / kDescription, text.data(), text.size());
}

// Where the pictures lie.
std::vector<fs::path> folders_of(bool scenes) {
  if (scenes) return {"images/training", "images/validation", "annotations/training", "annotations/validation"};
  std::vector<fs::path> folders;
  for (const char* part : {"train", "val"}) {
    for (int label = 0; label < kProceduralClasses; ++label)
      folders.push_back(fs::path(part) / procedural_class_name(label));
  }
  return folders;
}

// One thread's share of the work is whatever number comes next.
class Writer {
 public:
  Writer(const fs::path& folder, const ProceduralSetOptions& options, const std::function<bool(std::int64_t)>& progress)
      : folder_(folder), options_(options), progress_(progress) {}

  void run() {
    try {
      for (std::int64_t number = next_++; number < total() && !stop_; number = next_++)
        write(number);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      stop_ = true;
    }
  }
  bool finish() const {
    if (error_) std::rethrow_exception(error_);
    return !stop_;
  }

 private:
  std::int64_t total() const { return options_.train_images + options_.validation_images; }

  void write(std::int64_t number) {
    const bool training = number < options_.train_images;
    const std::int64_t in_part = training ? number : number - options_.train_images;
    if (options_.scenes) {
      write_scene(training ? "training" : "validation", in_part);
    } else {
      write_figure(training ? "train" : "val", in_part);
    }
    const std::int64_t done = ++done_;
    if (done % kProgressEvery != 0 && done != total()) return;
    const std::lock_guard lock(mutex_);
    if (!progress_(done)) stop_ = true;
  }

  void write_figure(const std::string& part, std::int64_t number) {
    const int label = static_cast<int>(number % kProceduralClasses);
    const std::vector<std::uint8_t> jpeg =
        encode_jpeg(draw_procedural(part, number, label, options_.size, options_.seed), options_.quality);
    write_file(folder_ / part / procedural_class_name(label) / fmt::format("{:06}.jpg", number), jpeg.data(),
               jpeg.size());
  }
  void write_scene(const std::string& part, std::int64_t number) {
    const LabelledScene scene = draw_scene(part, number, options_.size, options_.seed);
    const std::vector<std::uint8_t> jpeg = encode_jpeg(scene.image, options_.quality);
    const std::vector<std::uint8_t> png = encode_mask(scene.mask);
    write_file(folder_ / "images" / part / fmt::format("{:06}.jpg", number), jpeg.data(), jpeg.size());
    write_file(folder_ / "annotations" / part / fmt::format("{:06}.png", number), png.data(), png.size());
  }

  const fs::path& folder_;
  const ProceduralSetOptions& options_;
  const std::function<bool(std::int64_t)>& progress_;
  std::atomic<std::int64_t> next_ = 0;
  std::atomic<std::int64_t> done_ = 0;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace

ProceduralSetState look_at_procedural_set(const fs::path& folder, const ProceduralSetOptions& options) {
  std::error_code error;
  if (!fs::exists(folder, error)) return ProceduralSetState::kNone;
  if (!fs::is_directory(folder, error)) return ProceduralSetState::kForeign;
  std::ifstream in(folder / kDescription);
  if (!in) return fs::is_empty(folder, error) ? ProceduralSetState::kNone : ProceduralSetState::kForeign;
  const auto found = nlohmann::ordered_json::parse(in, nullptr, false);
  if (!found.is_object() || !found.contains("schema") || found["schema"] != kSchema) {
    return ProceduralSetState::kForeign;
  }
  nlohmann::ordered_json wanted = describe(options);
  wanted["complete"] = true;
  return found == wanted ? ProceduralSetState::kComplete : ProceduralSetState::kOther;
}

bool write_procedural_set(const fs::path& folder, const ProceduralSetOptions& options,
                          const std::function<bool(std::int64_t)>& progress) {
  for (const fs::path& below : folders_of(options.scenes)) {
    std::error_code error;
    fs::create_directories(folder / below, error);
    if (error) {
      throw WorkloadError(WorkloadErrorKind::kFailure, fmt::format("{}: cannot be made", (folder / below).string()),
                          error.message(), {});
    }
  }
  write_description(folder, options, false);
  Writer writer(folder, options, progress);
  {
    std::vector<std::jthread> threads;
    threads.reserve(static_cast<std::size_t>(options.threads));
    for (int i = 0; i < options.threads; ++i)
      threads.emplace_back([&writer] { writer.run(); });
  }
  if (!writer.finish()) return false;
  write_description(folder, options, true);
  return true;
}

void remove_procedural_set(const fs::path& folder) {
  std::error_code ignored;  // what stays is overwritten or named when it is in the way
  std::ifstream in(folder / kDescription);
  const auto set = nlohmann::ordered_json::parse(in, nullptr, false);
  in.close();
  const bool scenes = set.is_object() && set.value("kind", "") == kScenesKind;
  for (const fs::path& below : folders_of(scenes))
    fs::remove_all(folder / below, ignored);
  fs::remove(folder / kDescription, ignored);
}

}  // namespace swinscope
