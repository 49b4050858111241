// Writing safetensors files (the format is described in safetensors.h): checkpoints, and fixtures of the tests.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "kernels/byte_format.h"

namespace swinscope {

// A tensor to be written, of float32, float64 or 8-bit numbers; the values are borrowed.
struct TensorSource {
  std::string name;
  std::vector<std::int64_t> shape;
  std::span<const float> floats;
  std::span<const double> doubles;           // written when `floats` is empty
  std::span<const std::uint8_t> bytes = {};  // written when both are
  ByteFormat format = ByteFormat::kE4m3;     // of these
};

// Writes beside the target, forces it to the disk and renames, so that there is never half a file, whatever happens;
// replaces an existing file. Throws
// WorkloadError (kFailure) when the disk says no.
void write_safetensors(const std::filesystem::path& path, std::span<const TensorSource> tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace swinscope
