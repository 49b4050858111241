#include "collector/backlog.h"

#include <algorithm>
#include <cstring>

namespace swinscope {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{256} << 10U;
constexpr std::size_t kAlign = 8;

std::atomic<std::size_t> all_bytes = 0;

std::size_t size_of(const std::byte* record) {
  std::uint32_t bytes = 0;
  std::memcpy(&bytes, record, sizeof(bytes));
  return bytes;
}
std::size_t round_up(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

}  // namespace

Backlog::~Backlog() { all_bytes.fetch_sub(chunks_.size() * kChunkBytes); }

std::size_t Backlog::bytes_of_all() { return all_bytes.load(std::memory_order_relaxed); }

void Backlog::push(const std::byte* record) {
  const std::size_t bytes = size_of(record);
  if (chunks_.empty() || chunks_.back().size() + round_up(bytes) > kChunkBytes) {
    chunks_.emplace_back().reserve(std::max(kChunkBytes, round_up(bytes)));
    all_bytes.fetch_add(kChunkBytes);
  }
  Chunk& chunk = chunks_.back();
  chunk.insert(chunk.end(), record, record + bytes);
  chunk.resize(round_up(chunk.size()));
}

bool Backlog::drain(std::size_t max_bytes, const std::function<void(const std::byte*)>& take) {
  std::size_t done = 0;
  while (!chunks_.empty()) {
    if (offset_ == chunks_.front().size()) {
      chunks_.pop_front();
      all_bytes.fetch_sub(kChunkBytes);
      offset_ = 0;
      continue;
    }
    if (done >= max_bytes) return false;
    const std::byte* record = chunks_.front().data() + offset_;
    const std::size_t size = round_up(size_of(record));
    offset_ += size;
    done += size;
    take(record);
  }
  return true;
}

}  // namespace swinscope
