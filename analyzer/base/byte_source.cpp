#include "analyzer/base/byte_source.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <zlib.h>

#include "store/error.h"

namespace swinscope {
namespace {

// Trace JSON compresses 10 to 40 fold. A stream beyond both limits is a decompression bomb.
constexpr std::uint64_t kMaxExpansion = 200;
constexpr std::uint64_t kAlwaysAllowedBytes = std::uint64_t{1} << 30;

constexpr int kGzipWindowBits = 15 + 16;  // zlib: largest window, gzip header required

}  // namespace

struct ByteSource::Inflater {
  Inflater() {
    if (inflateInit2(&stream, kGzipWindowBits) != Z_OK) {
      throw Error(ErrorKind::kFailure, "zlib cannot be initialized", "out of memory");
    }
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  Inflater(Inflater&&) = delete;
  Inflater& operator=(Inflater&&) = delete;
  ~Inflater() { inflateEnd(&stream); }

  z_stream stream{};
  std::vector<char> input = std::vector<char>(1U << 16U);
  bool member_ended = false;
};

void ByteSource::CloseFile::operator()(std::FILE* file) const { std::fclose(file); }

ByteSource::ByteSource(const std::filesystem::path& path) : path_(path), file_(std::fopen(path.c_str(), "rbe")) {
  if (!file_) {
    throw Error(ErrorKind::kInput, fmt::format("{}: cannot be read", path.string()), std::strerror(errno),
                "check the path and its permissions");
  }
  std::array<unsigned char, 2> magic{};
  const bool gzip = std::fread(magic.data(), 1, 2, file_.get()) == 2 && magic[0] == 0x1F && magic[1] == 0x8B;
  std::rewind(file_.get());
  if (!gzip) return;
  inflater_ = std::make_unique<Inflater>();
  std::error_code ignored;
  limit_ = std::max(kAlwaysAllowedBytes, kMaxExpansion * std::filesystem::file_size(path, ignored));
}

ByteSource::~ByteSource() = default;

std::size_t ByteSource::read(std::span<char> into) {
  const std::size_t count = inflater_ ? read_compressed(into) : read_file(into);
  delivered_ += count;
  if (inflater_ && delivered_ > limit_) {
    throw Error(ErrorKind::kInput, fmt::format("{}: expands beyond {} bytes", path_.string(), limit_),
                "real traces compress 10 to 40 fold; this is no trace", "decompress it by hand if you trust it");
  }
  return count;
}

std::size_t ByteSource::read_file(std::span<char> into) {
  const std::size_t count = std::fread(into.data(), 1, into.size(), file_.get());
  if (count < into.size() && std::ferror(file_.get()) != 0) damage_ = "reading the file failed";
  return count;
}

std::size_t ByteSource::read_compressed(std::span<char> into) {
  z_stream& stream = inflater_->stream;
  stream.next_out = reinterpret_cast<Bytef*>(into.data());
  stream.avail_out = static_cast<uInt>(into.size());
  while (stream.avail_out > 0 && *damage_ == '\0') {
    bool at_end = false;
    if (stream.avail_in == 0) {
      const std::size_t count = read_file(inflater_->input);
      stream.next_in = reinterpret_cast<Bytef*>(inflater_->input.data());
      stream.avail_in = static_cast<uInt>(count);
      at_end = count == 0;
      if (at_end && inflater_->member_ended) break;
    }
    // A gzip file is one or more members; another one begins where one has ended. Zeros there only fill a block.
    if (inflater_->member_ended) {
      while (stream.avail_in > 0 && *stream.next_in == 0) {
        ++stream.next_in;
        --stream.avail_in;
      }
      if (stream.avail_in == 0) continue;
      inflateReset(&stream);
      inflater_->member_ended = false;
    }
    const int code = inflate(&stream, Z_NO_FLUSH);
    if (code == Z_STREAM_END) {
      inflater_->member_ended = true;
    } else if (at_end && code == Z_BUF_ERROR) {
      // Only now: at the end of its input zlib may still hold output that did not fit before.
      if (*damage_ == '\0') damage_ = "the compressed file is truncated";
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      damage_ = "the compressed data is damaged";
    }
  }
  return into.size() - stream.avail_out;
}

}  // namespace swinscope
