#include "workloads/safetensors.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/byte_format.h"
#include "workloads/error.h"

static_assert(std::endian::native == std::endian::little, "the format is little-endian and is mapped as it is");

namespace swinscope {
namespace {

using nlohmann::json;

constexpr std::size_t kLengthBytes = 8;
constexpr int kMaxDepth = 4;
constexpr std::string_view kMetadataKey = "__metadata__";

struct TypeInfo {
  std::string_view name;
  std::size_t bytes;
  TensorType type;
};

// Types of the format; those that no weight uses are known so that their sizes can be checked.
constexpr TypeInfo kTypes[] = {
    {"F32", 4, TensorType::kF32},   {"F16", 2, TensorType::kF16},      {"BF16", 2, TensorType::kBf16},
    {"F64", 8, TensorType::kF64},   {"BOOL", 1, TensorType::kOther},   {"U8", 1, TensorType::kOther},
    {"I8", 1, TensorType::kI8},     {"F8_E4M3", 1, TensorType::kE4m3}, {"F8_E5M2", 1, TensorType::kOther},
    {"I16", 2, TensorType::kOther}, {"U16", 2, TensorType::kOther},    {"I32", 4, TensorType::kOther},
    {"U32", 4, TensorType::kOther}, {"I64", 8, TensorType::kOther},    {"U64", 8, TensorType::kOther},
};

const TypeInfo* find_type(std::string_view name) {
  const auto* found = std::ranges::find(kTypes, name, &TypeInfo::name);
  return found == std::end(kTypes) ? nullptr : found;
}

// IEEE binary16 to float, subnormals, infinities and NaN included.
float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1FU;
  const std::uint32_t mantissa = half & 0x3FFU;
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t wide = exponent == 31 ? 0xFFU : exponent + 112U;
  return std::bit_cast<float>(sign | (wide << 23) | (mantissa << 13));
}

float bfloat_to_float(std::uint16_t half) { return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16); }

template <typename Stored, typename T, typename Convert>
void convert(const std::byte* from, std::span<T> to, const Convert& widen) {
  for (T& value : to) {
    Stored stored;  // the bytes need not be aligned
    std::memcpy(&stored, from, sizeof(stored));
    value = static_cast<T>(widen(stored));
    from += sizeof(stored);
  }
}

template <typename T>
void convert_all(TensorType type, const std::byte* from, std::span<T> to) {
  switch (type) {
    case TensorType::kF16:
      return convert<std::uint16_t>(from, to, half_to_float);
    case TensorType::kBf16:
      return convert<std::uint16_t>(from, to, bfloat_to_float);
    case TensorType::kF32:
      return convert<float>(from, to, [](float value) { return value; });
    case TensorType::kF64:
      return convert<double>(from, to, [](double value) { return value; });
    case TensorType::kE4m3:
      return convert<std::uint8_t>(from, to, from_e4m3);
    case TensorType::kI8:
      return convert<std::uint8_t>(from, to, from_int8);
    case TensorType::kOther:
      break;
  }
}

// The number of elements, or nothing when an extent is negative or the product exceeds 2^58 (so that bytes fit 64
// bits).
std::optional<std::int64_t> element_count(const std::vector<std::int64_t>& shape) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 58;
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    if (extent != 0 && count > kLimit / extent) return std::nullopt;
    count *= extent;
  }
  return count;
}

// The DOM would keep the last of two tensors of one name; and nothing in the format is nested deeper than three levels.
json parse_json(std::string_view text) {
  std::set<std::string> names;
  const auto guard = [&names](int depth, json::parse_event_t event, json& parsed) {
    if (depth > kMaxDepth) throw std::length_error("it is nested too deeply");
    if (event == json::parse_event_t::key && depth == 1 && !names.insert(parsed.get<std::string>()).second) {
      throw std::length_error("the name '" + parsed.get<std::string>() + "' comes twice");
    }
    return true;
  };
  return json::parse(text, guard);
}

// Throws json::exception or std::invalid_argument when the entry is not what the format says.
TensorEntry parse_entry(const std::string& name, const json& value) {
  TensorEntry entry;
  entry.name = name;
  entry.type_name = value.at("dtype").get<std::string>();
  const json& shape = value.at("shape");
  if (!shape.is_array()) throw std::invalid_argument("its shape is not a list");
  for (const json& extent : shape) {
    if (!extent.is_number_integer()) throw std::invalid_argument("its shape is not made of integers");
    entry.shape.push_back(extent.get<std::int64_t>());
  }
  const json& offsets = value.at("data_offsets");
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned()) {
    throw std::invalid_argument("data_offsets are not two offsets");
  }
  entry.begin = offsets[0].get<std::uint64_t>();
  entry.end = offsets[1].get<std::uint64_t>();
  const TypeInfo* type = find_type(entry.type_name);
  if (type == nullptr) throw std::invalid_argument("unknown dtype " + entry.type_name);
  const std::optional<std::int64_t> count = element_count(entry.shape);
  if (!count) throw std::invalid_argument("impossible shape " + format_shape(entry.shape));
  const std::uint64_t bytes = static_cast<std::uint64_t>(*count) * type->bytes;
  if (entry.end < entry.begin || entry.end - entry.begin != bytes) {
    throw std::invalid_argument(fmt::format("offsets {} to {} do not hold {} bytes of {} {}", entry.begin, entry.end,
                                            bytes, entry.type_name, format_shape(entry.shape)));
  }
  entry.type = type->type;
  entry.count = *count;
  return entry;
}

}  // namespace

std::string format_shape(std::span<const std::int64_t> shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

class SafetensorsFile::Descriptor {
 public:
  // Not blocking: opening a pipe that no one writes would wait for ever. Regular files do not care.
  explicit Descriptor(const std::filesystem::path& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor(Descriptor&&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;

  int get() const { return fd_; }

 private:
  int fd_;
};

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : path_(path), file_(std::make_unique<Descriptor>(path)) {
  if (file_->get() < 0) refuse(std::strerror(errno));
  struct stat status = {};
  if (::fstat(file_->get(), &status) != 0) refuse(std::strerror(errno));
  if (!S_ISREG(status.st_mode)) refuse("it is not a regular file");
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size < kLengthBytes) refuse(fmt::format("it has {} bytes, the format starts with an 8-byte length", size));

  std::uint64_t header_bytes = 0;
  read_bytes(0, std::as_writable_bytes(std::span(&header_bytes, 1)));
  if (header_bytes > kMaxHeaderBytes) {
    refuse(fmt::format("its header claims {} bytes (the limit is {}); is it a safetensors file?", header_bytes,
                       kMaxHeaderBytes));
  }
  if (header_bytes > size - kLengthBytes) {
    refuse(fmt::format("its header claims {} bytes and the file has {}", header_bytes, size));
  }
  std::string header(header_bytes, '\0');
  read_bytes(kLengthBytes, std::as_writable_bytes(std::span(header)));
  data_start_ = kLengthBytes + header_bytes;
  parse(header, size - data_start_);
}

SafetensorsFile::~SafetensorsFile() = default;
SafetensorsFile::SafetensorsFile(SafetensorsFile&&) noexcept = default;
SafetensorsFile& SafetensorsFile::operator=(SafetensorsFile&&) noexcept = default;

void SafetensorsFile::refuse(const std::string& why) const {
  throw WorkloadError(WorkloadErrorKind::kInput, fmt::format("{}: not readable as safetensors", path_.string()), why,
                      "weights of timm are saved as such by safetensors.torch.save_file(timm.create_model(NAME, "
                      "pretrained=True).state_dict(), FILE) in Python");
}

void SafetensorsFile::read_bytes(std::uint64_t offset, std::span<std::byte> bytes) const {
  // Read, not mapped: a mapped file that another program cuts kills the process.
  while (!bytes.empty()) {
    const ssize_t got = ::pread(file_->get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(std::strerror(errno));
    if (got == 0) refuse("it was cut while it was read");
    offset += static_cast<std::uint64_t>(got);
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

void SafetensorsFile::parse(std::string_view header, std::uint64_t data_bytes) {
  std::string at = "header";
  try {
    const json parsed = parse_json(header);
    if (!parsed.is_object()) refuse("its header is not a JSON object");
    for (const auto& [name, value] : parsed.items()) {
      at = fmt::format("'{}'", name);
      if (name == kMetadataKey) {
        metadata_ = value.get<std::map<std::string, std::string, std::less<>>>();
      } else {
        tensors_.emplace(name, parse_entry(name, value));
      }
    }
  } catch (const json::parse_error& error) {
    // Its text quotes the bytes around the place, which may be anything.
    refuse(fmt::format("its header is not JSON at byte {}", error.byte));
  } catch (const json::exception& error) {
    refuse(fmt::format("{}: {}", at, error.what()));
  } catch (const std::logic_error& error) {
    refuse(fmt::format("{}: {}", at, error.what()));
  }
  check_coverage(data_bytes);
}

void SafetensorsFile::check_coverage(std::uint64_t data_bytes) const {
  std::vector<const TensorEntry*> by_place;
  for (const auto& [name, entry] : tensors_)
    by_place.push_back(&entry);
  std::ranges::sort(by_place, {}, [](const TensorEntry* entry) { return std::pair(entry->begin, entry->end); });
  std::uint64_t at = 0;
  for (const TensorEntry* entry : by_place) {
    if (entry->begin != at) {
      refuse(fmt::format("'{}' starts at {} where {} is expected: a gap or an overlap", entry->name, entry->begin, at));
    }
    at = entry->end;
  }
  if (at != data_bytes) refuse(fmt::format("its tensors take {} bytes and {} follow the header: cut?", at, data_bytes));
}

const TensorEntry* SafetensorsFile::find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

template <typename T>
void SafetensorsFile::read(const TensorEntry& entry, std::span<T> values) const {
  if (entry.type == TensorType::kOther)
    refuse(fmt::format("'{}' has type {}, not a float type", entry.name, entry.type_name));
  if (values.size() != static_cast<std::size_t>(entry.count)) {
    throw std::invalid_argument("SafetensorsFile::read: wrong size for " + entry.name);
  }
  constexpr std::size_t kChunk = 1U << 18;
  const std::size_t width = find_type(entry.type_name)->bytes;
  std::vector<std::byte> bytes(std::min(kChunk, values.size()) * width);
  for (std::size_t done = 0; done < values.size(); done += kChunk) {
    const std::span<T> part = values.subspan(done, std::min(kChunk, values.size() - done));
    const std::span<std::byte> raw = std::span(bytes).first(part.size() * width);
    read_bytes(data_start_ + entry.begin + done * width, raw);
    convert_all(entry.type, raw.data(), part);
  }
}

template void SafetensorsFile::read<float>(const TensorEntry&, std::span<float>) const;
template void SafetensorsFile::read<double>(const TensorEntry&, std::span<double>) const;

}  // namespace swinscope
