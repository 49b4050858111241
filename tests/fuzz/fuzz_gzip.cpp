// ByteSource: whatever the bytes, and whatever the size of the pieces, the same is delivered.
#include <algorithm>
#include <vector>

#include "analyzer/base/byte_source.h"
#include "tests/fuzz/support.h"

namespace swinscope::fuzz {
namespace {

struct Delivered {
  std::string bytes;
  std::string damage;
  bool operator==(const Delivered&) const = default;
};

// Enough for any input of a fuzzer (a thousandfold expansion of some kilobytes), so that time is not spent on zeros.
constexpr std::size_t kMostBytes = std::size_t{8} << 20U;

Delivered drain(const MemoryFile& file, std::size_t piece) {
  ByteSource source(file.path());
  Delivered delivered;
  std::vector<char> buffer(piece);
  while (delivered.bytes.size() < kMostBytes) {
    const std::size_t count = source.read(buffer);
    expect(count <= piece, "no more is delivered than was asked for");
    if (count == 0) break;
    delivered.bytes.append(buffer.data(), count);
  }
  delivered.bytes.resize(std::min(delivered.bytes.size(), kMostBytes));
  delivered.damage = source.damage();
  return delivered;
}

}  // namespace
}  // namespace swinscope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace swinscope::fuzz;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const MemoryFile file(bytes);
  const Delivered whole = drain(file, std::size_t{1} << 16U);
  if (whole.bytes.size() == kMostBytes) return 0;
  expect(drain(file, 1U + data[0]) == whole, "pieces of another size deliver the same");
  if (bytes.substr(0, 2) != "\x1F\x8B") expect(whole.bytes == bytes, "plain bytes are delivered as they are");
  return 0;
}
