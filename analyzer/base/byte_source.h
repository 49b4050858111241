// Reads a file that may be gzip-compressed, in pieces, with bounded memory and bounded expansion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace swinscope {

class ByteSource {
 public:
  // Recognizes gzip by its first bytes. Throws Error(kInput) when the file cannot be opened.
  explicit ByteSource(const std::filesystem::path& path);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  ByteSource(ByteSource&&) = delete;
  ByteSource& operator=(ByteSource&&) = delete;

  // Fills as much of `into` as there is data for; 0 at the end. Damaged or truncated compressed data ends the stream
  // early: what came before is delivered, then `damage()` tells. Throws Error(kInput) for data that expands beyond any
  // real trace.
  std::size_t read(std::span<char> into);

  // Empty while the data is intact.
  const char* damage() const { return damage_; }
  std::uint64_t bytes_read() const { return delivered_; }

 private:
  struct Inflater;

  std::size_t read_file(std::span<char> into);
  std::size_t read_compressed(std::span<char> into);
  // A round of bytes, less at the end or where the data is damaged; 0: there are no more.
  std::size_t inflate_round(std::uint8_t* into);

  struct CloseFile {
    void operator()(std::FILE* file) const;
  };
  std::filesystem::path path_;
  std::unique_ptr<std::FILE, CloseFile> file_;
  std::unique_ptr<Inflater> inflater_;
  std::uint64_t limit_ = 0;
  std::uint64_t delivered_ = 0;
  const char* damage_ = "";
};

}  // namespace swinscope
