#include "workloads/safetensors_writer.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "workloads/error.h"

static_assert(std::endian::native == std::endian::little, "the format is little-endian and is written as it is");

namespace swinscope {
namespace {

std::span<const std::byte> bytes_of(const TensorSource& tensor) {
  return tensor.floats.empty() ? std::as_bytes(tensor.doubles) : std::as_bytes(tensor.floats);
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
    if (count != tensor.floats.size() + tensor.doubles.size()) {
      throw std::invalid_argument("write_safetensors: the shape of " + tensor.name + " does not match its values");
    }
    const std::size_t end = at + bytes_of(tensor).size();
    header[tensor.name] = {
        {"dtype", tensor.doubles.empty() ? "F32" : "F64"}, {"shape", tensor.shape}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = header.empty() ? "{}" : header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

// Of a file or a folder.
bool flush_to_disk(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool flushed = ::fsync(descriptor) == 0;
  const int error = errno;
  ::close(descriptor);
  errno = error;
  return flushed;
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, std::span<const TensorSource> tensors,
                       const std::map<std::string, std::string>& metadata) {
  const std::string header = make_header(tensors, metadata);
  const std::uint64_t length = header.size();
  const std::filesystem::path partial = path.string() + fmt::format(".{}.part", ::getpid());
  const auto fail = [&](const std::string& why) {
    std::error_code ignored;
    std::filesystem::remove(partial, ignored);
    throw WorkloadError(WorkloadErrorKind::kFailure, fmt::format("{}: cannot be written", path.string()), why);
  };
  std::ofstream out(partial, std::ios::binary | std::ios::trunc);
  if (!out) fail(std::strerror(errno));
  out.write(reinterpret_cast<const char*>(&length), sizeof(length));
  out.write(header.data(), static_cast<std::streamsize>(header.size()));
  for (const TensorSource& tensor : tensors) {
    const std::span<const std::byte> bytes = bytes_of(tensor);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  out.close();
  if (!out) fail(std::strerror(errno));
  // Only what is on the disk may take the old file's place.
  if (!flush_to_disk(partial)) fail(std::strerror(errno));
  std::error_code error;
  std::filesystem::rename(partial, path, error);
  if (error) fail(error.message());
  // The new name, too. Some file systems cannot flush a folder; then it is theirs to keep the order.
  flush_to_disk(path.has_parent_path() ? path.parent_path() : ".");
}

}  // namespace swinscope
