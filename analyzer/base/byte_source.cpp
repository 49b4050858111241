#include "analyzer/base/byte_source.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>

#include "store/error.h"

namespace swinscope {
namespace {

// Trace JSON compresses 10 to 40 fold. A stream beyond both limits is a decompression bomb.
constexpr std::uint64_t kMaxExpansion = 200;
constexpr std::uint64_t kAlwaysAllowedBytes = std::uint64_t{1} << 30;

constexpr std::array<unsigned char, 2> kGzipMagic{0x1F, 0x8B};

// So many bytes are inflated at a time, whatever is asked for: how much of damaged data comes out depends on that.
constexpr std::size_t kRoundBytes = std::size_t{1} << 16;

}  // namespace

struct ByteSource::Inflater {
  Inflater() {
    isal_inflate_init(&state);
    state.crc_flag = ISAL_GZIP;  // header and trailer are read and checked
  }
  bool member_ended() const { return state.block_state == ISAL_BLOCK_FINISH; }

  inflate_state state{};
  std::vector<std::uint8_t> input = std::vector<std::uint8_t>(1U << 16U);
  // Of a round that was asked for in smaller pieces: what of it is not delivered yet.
  std::vector<std::uint8_t> output = std::vector<std::uint8_t>(kRoundBytes);
  std::span<const std::uint8_t> rest;
};

void ByteSource::CloseFile::operator()(std::FILE* file) const { std::fclose(file); }

ByteSource::ByteSource(const std::filesystem::path& path) : path_(path), file_(std::fopen(path.c_str(), "rbe")) {
  if (!file_) {
    throw Error(ErrorKind::kInput, fmt::format("{}: cannot be read", path.string()), std::strerror(errno),
                "check the path and its permissions");
  }
  std::array<unsigned char, 2> magic{};
  const bool gzip = std::fread(magic.data(), 1, magic.size(), file_.get()) == magic.size() && magic == kGzipMagic;
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
  const std::size_t wanted = into.size();
  while (!into.empty()) {
    std::span<const std::uint8_t>& rest = inflater_->rest;
    if (!rest.empty()) {
      const std::size_t count = std::min(rest.size(), into.size());
      std::memcpy(into.data(), rest.data(), count);
      rest = rest.subspan(count);
      into = into.subspan(count);
    } else if (into.size() >= kRoundBytes) {
      const std::size_t count = inflate_round(reinterpret_cast<std::uint8_t*>(into.data()));
      if (count == 0) break;
      into = into.subspan(count);
    } else {
      rest = {inflater_->output.data(), inflate_round(inflater_->output.data())};
      if (rest.empty()) break;
    }
  }
  return wanted - into.size();
}

std::size_t ByteSource::inflate_round(std::uint8_t* into) {
  inflate_state& state = inflater_->state;
  state.next_out = into;
  state.avail_out = kRoundBytes;
  while (state.avail_out > 0 && *damage_ == '\0') {
    bool at_end = false;
    if (state.avail_in == 0) {
      std::vector<std::uint8_t>& input = inflater_->input;
      state.avail_in = static_cast<std::uint32_t>(read_file({reinterpret_cast<char*>(input.data()), input.size()}));
      state.next_in = input.data();
      at_end = state.avail_in == 0;
      if (at_end && inflater_->member_ended()) break;
    }
    // A gzip file is one or more members; another one begins where one has ended. Zeros there only fill a block.
    if (inflater_->member_ended()) {
      while (state.avail_in > 0 && *state.next_in == 0) {
        ++state.next_in;
        --state.avail_in;
      }
      if (state.avail_in == 0) continue;
      if (*state.next_in != kGzipMagic[0]) {  // said here: a header's worth of garbage may never come
        damage_ = "the compressed data is damaged";
        break;
      }
      isal_inflate_reset(&state);  // input and output stay where they are
    }
    if (isal_inflate(&state) < 0) {
      damage_ = "the compressed data is damaged";
    } else if (at_end && state.avail_out > 0 && !inflater_->member_ended() && *damage_ == '\0') {
      // Only now: at the end of its input there may still be output that did not fit before.
      damage_ = "the compressed file is truncated";
    }
  }
  return kRoundBytes - state.avail_out;
}

}  // namespace swinscope
