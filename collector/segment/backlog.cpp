#include "collector/segment/backlog.h"

#include <algorithm>
#include <cstring>

#include "collector/segment/nvtx_event.h"
#include "collector/segment/thread_buffers.h"

namespace swinscope {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{256} << 10U;

std::atomic<std::size_t> all_bytes = 0;

}  // namespace

Backlog::~Backlog() { all_bytes.fetch_sub(chunks_.size() * kChunkBytes); }

std::size_t Backlog::bytes_of_all() { return all_bytes.load(std::memory_order_relaxed); }

void Backlog::push(const std::byte* records, std::size_t bytes) {
  if (is_damaged_) return;
  if (chunks_.empty() || chunks_.back().size() + bytes > kChunkBytes) {
    chunks_.emplace_back().reserve(std::max(kChunkBytes, bytes));
    all_bytes.fetch_add(kChunkBytes);
  }
  chunks_.back().insert(chunks_.back().end(), records, records + bytes);
}

bool Backlog::drain(std::size_t max_bytes, const std::function<void(const std::byte*)>& take) {
  std::size_t done = 0;
  while (!chunks_.empty()) {
    const std::size_t left = chunks_.front().size() - offset_;
    if (left == 0 || is_damaged_) {
      chunks_.pop_front();
      all_bytes.fetch_sub(kChunkBytes);
      offset_ = 0;
      continue;
    }
    if (done >= max_bytes) return false;
    const std::byte* record = chunks_.front().data() + offset_;
    std::uint32_t bytes = 0;
    std::memcpy(&bytes, record, sizeof(bytes));
    const std::size_t size = ThreadBuffer::round_up(bytes);
    is_damaged_ = bytes < sizeof(EventHead) || size > left;
    if (is_damaged_) continue;
    offset_ += size;
    done += size;
    take(record);
  }
  return true;
}

}  // namespace swinscope
