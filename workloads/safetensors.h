// The safetensors file format (huggingface/safetensors, format description of 0.4): an 8-byte little-endian header
// length, a JSON header {name: {"dtype", "shape", "data_offsets": [begin, end]}, "__metadata__": {text: text}}, then
// the data.
//
// The reader trusts nothing in a file: the header's length and depth are limited, names are unique, every offset lies
// within the file, sizes agree with shapes without overflow, and tensors neither overlap nor leave gaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace swinscope {

enum class TensorType : std::uint8_t { kF16, kBf16, kF32, kF64, kE4m3, kI8, kOther };

struct TensorEntry {
  std::string name;
  TensorType type = TensorType::kOther;
  std::string type_name;  // as in the file, e.g. "I64"
  std::vector<std::int64_t> shape;
  std::int64_t count = 0;   // elements
  std::uint64_t begin = 0;  // bytes from the start of the data
  std::uint64_t end = 0;
};

// "[96, 3, 4, 4]"
std::string format_shape(std::span<const std::int64_t> shape);

class SafetensorsFile {
 public:
  // No published file comes near: the header of a 10,000-tensor model has about 1 MB.
  static constexpr std::uint64_t kMaxHeaderBytes = 16U << 20;

  // Opens the file and checks its header. Throws WorkloadError (kInput) saying what is wrong with it.
  explicit SafetensorsFile(const std::filesystem::path& path);
  ~SafetensorsFile();
  SafetensorsFile(SafetensorsFile&&) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&&) noexcept;
  SafetensorsFile(const SafetensorsFile&) = delete;
  SafetensorsFile& operator=(const SafetensorsFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // By name.
  const std::map<std::string, TensorEntry, std::less<>>& tensors() const { return tensors_; }
  const std::map<std::string, std::string, std::less<>>& metadata() const { return metadata_; }
  // Null when there is none of that name.
  const TensorEntry* find(std::string_view name) const;

  // Converts a tensor to T (float or double; F64 to float rounds to nearest). `values` must have entry.count elements.
  // Throws WorkloadError (kInput) for a type other than F16, BF16, F32, F64, F8_E4M3 and I8, and for a file cut since
  // it was opened.
  template <typename T>
  void read(const TensorEntry& entry, std::span<T> values) const;

 private:
  class Descriptor;

  void read_bytes(std::uint64_t offset, std::span<std::byte> bytes) const;
  void parse(std::string_view header, std::uint64_t data_bytes);
  void check_coverage(std::uint64_t data_bytes) const;
  [[noreturn]] void refuse(const std::string& why) const;

  std::filesystem::path path_;
  std::unique_ptr<Descriptor> file_;
  std::uint64_t data_start_ = 0;
  std::map<std::string, TensorEntry, std::less<>> tensors_;
  std::map<std::string, std::string, std::less<>> metadata_;
};

}  // namespace swinscope
