// Writing the procedural sets (procedural.h) as files, and FOLDER/dataset.json, which says how they were made and
// whether all are there:
//   one figure a picture   FOLDER/train/CLASS/NUMBER.jpg, FOLDER/val/CLASS/NUMBER.jpg
//   scenes                 FOLDER/images/PART/NUMBER.jpg and FOLDER/annotations/PART/NUMBER.png, where PART is training
//   or
//                          validation: ADE20K's layout
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

namespace swinscope {

struct ProceduralSetOptions {
  bool scenes = false;
  std::int64_t train_images = 18000;
  std::int64_t validation_images = 2000;
  int size = 224;  // pixels, square
  int quality = 90;
  std::uint64_t seed = 0;
  int threads = 1;
};

enum class ProceduralSetState : std::uint8_t {
  kNone,      // the folder is not there or empty
  kComplete,  // exactly this set
  kOther,     // a set of ours that was made otherwise, or not to its end
  kForeign,   // something else
};
ProceduralSetState look_at_procedural_set(const std::filesystem::path& folder, const ProceduralSetOptions& options);

// Labels of single figures go round: number modulo kProceduralClasses. `progress(done)` is called now and then, from
// any of the threads, one at a time; when it returns false, writing stops and the set stays incomplete. Returns whether
// it is complete. Files that are there are replaced. The same options give the same bytes with the same libjpeg and
// libpng, whatever the number of threads. Throws WorkloadError (kFailure) when the disk says no.
bool write_procedural_set(const std::filesystem::path& folder, const ProceduralSetOptions& options,
                          const std::function<bool(std::int64_t done)>& progress);

// Removes the pictures and the description of a set of ours, and nothing else.
void remove_procedural_set(const std::filesystem::path& folder);

}  // namespace swinscope
