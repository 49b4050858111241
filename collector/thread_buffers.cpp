#include "collector/thread_buffers.h"

#include <new>

#include <sys/mman.h>

namespace swinscope {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kHeadBytes = (sizeof(ThreadBuffer) + kPage - 1) / kPage * kPage;

}  // namespace

ThreadBuffers::~ThreadBuffers() {
  ThreadBuffer* buffer = first_.load(std::memory_order_acquire);
  while (buffer != nullptr) {
    ThreadBuffer* next = buffer->next;
    buffer->~ThreadBuffer();
    munmap(buffer, kHeadBytes + ring_bytes_);
    buffer = next;
  }
}

ThreadBuffer* ThreadBuffers::acquire(std::uint32_t tid) {
  ThreadBuffer* buffer = reuse(tid);
  if (buffer == nullptr) buffer = make(tid);
  if (buffer == nullptr) refuse();
  return buffer;
}

ThreadBuffer* ThreadBuffers::reuse(std::uint32_t tid) {
  for (ThreadBuffer* buffer = first_.load(std::memory_order_acquire); buffer != nullptr; buffer = buffer->next) {
    ThreadBuffer::State expected = ThreadBuffer::State::kFree;
    // Acquire: the writer's last look at the buffer comes before the new owner's first write.
    if (buffer->state.compare_exchange_strong(expected, ThreadBuffer::State::kOwned, std::memory_order_acq_rel)) {
      buffer->tid.store(tid, std::memory_order_relaxed);
      buffer->stacks.fill({});
      buffer->set_aside = 0;
      return buffer;
    }
  }
  return nullptr;
}

ThreadBuffer* ThreadBuffers::make(std::uint32_t tid) {
  const std::uint32_t number = count_.fetch_add(1, std::memory_order_relaxed);
  if (number >= kMaxBuffers) {
    count_.fetch_sub(1, std::memory_order_relaxed);
    return nullptr;
  }
  // Pages are committed as they are first written: a thread with few events costs little.
  void* memory = mmap(nullptr, kHeadBytes + ring_bytes_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* buffer = new (memory) ThreadBuffer(static_cast<std::byte*>(memory) + kHeadBytes, ring_bytes_, number);
  buffer->tid.store(tid, std::memory_order_relaxed);
  buffer->state.store(ThreadBuffer::State::kOwned, std::memory_order_relaxed);
  buffer->next = first_.load(std::memory_order_relaxed);
  while (!first_.compare_exchange_weak(buffer->next, buffer, std::memory_order_release, std::memory_order_relaxed)) {
  }
  return buffer;
}

void ThreadBuffers::abandon(ThreadBuffer& buffer) {
  buffer.state.store(ThreadBuffer::State::kAbandoned, std::memory_order_release);
}

std::uint64_t ThreadBuffers::dropped(DropKind kind) const {
  std::uint64_t sum = 0;
  for (const ThreadBuffer* buffer = first_.load(std::memory_order_acquire); buffer != nullptr; buffer = buffer->next) {
    sum += buffer->drops[static_cast<std::size_t>(kind)].load(std::memory_order_relaxed);
  }
  return sum;
}

void ThreadBuffers::for_each(const std::function<bool(ThreadBuffer&, bool)>& visit) {
  for (ThreadBuffer* buffer = first_.load(std::memory_order_acquire); buffer != nullptr; buffer = buffer->next) {
    const ThreadBuffer::State state = buffer->state.load(std::memory_order_acquire);
    if (state == ThreadBuffer::State::kFree) continue;
    const bool ended = state == ThreadBuffer::State::kAbandoned;
    if (visit(*buffer, ended) && ended) buffer->state.store(ThreadBuffer::State::kFree, std::memory_order_release);
  }
}

}  // namespace swinscope
