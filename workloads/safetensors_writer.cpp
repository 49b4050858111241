#include "workloads/safetensors_writer.h"

#include <bit>
#include <ostream>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "workloads/whole_file.h"

static_assert(std::endian::native == std::endian::little, "the format is little-endian and is written as it is");

namespace swinscope {
namespace {

std::span<const std::byte> bytes_of(const TensorSource& tensor) {
  if (!tensor.floats.empty()) return std::as_bytes(tensor.floats);
  return tensor.bytes.empty() ? std::as_bytes(tensor.doubles) : std::as_bytes(tensor.bytes);
}

const char* type_of(const TensorSource& tensor) {
  if (!tensor.bytes.empty()) return tensor.format == ByteFormat::kInt8 ? "I8" : "F8_E4M3";
  return tensor.doubles.empty() ? "F32" : "F64";
}

// The header, padded with spaces so that the data starts at a multiple of 8 bytes, as the reference writer does.
std::string make_header(std::span<const TensorSource> tensors, const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header;
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::size_t at = 0;
  for (const TensorSource& tensor : tensors) {
    std::size_t count = 1;
    for (const std::int64_t extent : tensor.shape)
      count *= static_cast<std::size_t>(extent);
    if (count != tensor.floats.size() + tensor.doubles.size() + tensor.bytes.size()) {
      throw std::invalid_argument("write_safetensors: the shape of " + tensor.name + " does not match its values");
    }
    const std::size_t end = at + bytes_of(tensor).size();
    header[tensor.name] = {{"dtype", type_of(tensor)}, {"shape", tensor.shape}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = header.empty() ? "{}" : header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, std::span<const TensorSource> tensors,
                       const std::map<std::string, std::string>& metadata) {
  const std::string header = make_header(tensors, metadata);
  const std::uint64_t length = header.size();
  WholeFile file(path);
  std::ostream& out = file.stream();
  out.write(reinterpret_cast<const char*>(&length), sizeof(length));
  out.write(header.data(), static_cast<std::streamsize>(header.size()));
  for (const TensorSource& tensor : tensors) {
    const std::span<const std::byte> bytes = bytes_of(tensor);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  file.keep();
}

}  // namespace swinscope
