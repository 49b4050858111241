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
constexpr std::int64_t kProgressEvery = 200;

nlohmann::ordered_json describe(const ProceduralSetOptions& options) {
  nlohmann::ordered_json set;
  set["schema"] = kSchema;
  set["kind"] = "procedural";
  set["classes"] = kProceduralClasses;
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
    const std::string part = training ? "train" : "val";
    const std::int64_t in_part = training ? number : number - options_.train_images;
    const int label = static_cast<int>(in_part % kProceduralClasses);
    const std::vector<std::uint8_t> jpeg =
        encode_jpeg(draw_procedural(part, in_part, label, options_.size, options_.seed), options_.quality);
    write_file(folder_ / part / procedural_class_name(label) / fmt::format("{:06}.jpg", in_part), jpeg.data(),
               jpeg.size());
    const std::int64_t done = ++done_;
    if (done % kProgressEvery != 0 && done != total()) return;
    const std::lock_guard lock(mutex_);
    if (!progress_(done)) stop_ = true;
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
  for (const char* part : {"train", "val"}) {
    for (int label = 0; label < kProceduralClasses; ++label) {
      std::error_code error;
      const fs::path of_class = folder / part / procedural_class_name(label);
      fs::create_directories(of_class, error);
      if (error) {
        throw WorkloadError(WorkloadErrorKind::kFailure, fmt::format("{}: cannot be made", of_class.string()),
                            error.message(), {});
      }
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
  for (const char* part : {"train", "val"}) {
    for (int label = 0; label < kProceduralClasses; ++label)
      fs::remove_all(folder / part / procedural_class_name(label), ignored);
  }
  fs::remove(folder / kDescription, ignored);
}

}  // namespace swinscope
