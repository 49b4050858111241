#include "analyzer/kineto_stream.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "analyzer/byte_source.h"
#include "analyzer/json_splitter.h"
#include "store/error.h"

namespace swinscope {
namespace {

// Texts of consecutive events in one buffer.
struct Batch {
  std::string text;
  std::vector<std::size_t> ends;
};

// Hands batches from one thread to another, a few at a time.
class BatchQueue {
 public:
  // False when the consumer has gone.
  bool push(Batch batch) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return batches_.size() < kMaxBatches || abandoned_; });
    if (abandoned_) return false;
    batches_.push_back(std::move(batch));
    changed_.notify_all();
    return true;
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  void abandon() {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
    changed_.notify_all();
  }
  // Empty when the producer has closed the queue and all was taken.
  std::optional<Batch> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !batches_.empty() || closed_; });
    if (batches_.empty()) return std::nullopt;
    Batch batch = std::move(batches_.front());
    batches_.pop_front();
    changed_.notify_all();
    return batch;
  }

 private:
  static constexpr std::size_t kMaxBatches = 4;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> batches_;
  bool closed_ = false;
  bool abandoned_ = false;
};

constexpr std::size_t kPieceBytes = std::size_t{1} << 18;
constexpr std::size_t kBatchBytes = std::size_t{1} << 20;

// The body of the reading thread.
void read_events(const std::filesystem::path& path, std::size_t padding, BatchQueue& queue, KinetoDocument& document) {
  ByteSource source(path);
  Batch batch;
  bool wanted = true;
  const auto hand_over = [&] {
    batch.text.resize(batch.text.size() + padding, ' ');
    wanted = queue.push(std::move(batch));
    batch = {};
    batch.text.reserve(kBatchBytes + kPieceBytes);
  };
  JsonSplitter splitter([&](std::string_view event) {
    batch.text.append(event);
    batch.ends.push_back(batch.text.size());
  });
  std::vector<char> piece(kPieceBytes);
  while (wanted) {
    const std::size_t count = source.read(piece);
    if (count == 0) break;
    splitter.feed({piece.data(), count});
    if (batch.text.size() >= kBatchBytes) hand_over();
  }
  if (wanted && !batch.ends.empty()) hand_over();
  document.skeleton = splitter.skeleton();
  document.found_events = splitter.found_events();
  document.complete = splitter.complete() && *source.damage() == '\0';
  document.damage = source.damage();
  document.bytes = source.bytes_read();
  document.odd_elements = splitter.odd_elements();
}

}  // namespace

KinetoDocument stream_kineto_events(const std::filesystem::path& path, std::size_t padding,
                                    const std::atomic<bool>* cancel,
                                    const std::function<void(std::string_view)>& on_event) {
  BatchQueue queue;
  KinetoDocument document;
  std::exception_ptr failure;
  std::thread reader([&] {
    try {
      read_events(path, padding, queue, document);
    } catch (...) {
      failure = std::current_exception();
    }
    queue.close();
  });
  // The reader must be joined whatever on_event throws.
  const auto join = [&](std::thread* thread) {
    queue.abandon();
    thread->join();
  };
  {
    const std::unique_ptr<std::thread, decltype(join)> joined_at_the_end(&reader, join);
    while (const auto batch = queue.pop()) {
      if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) {
        throw Error(ErrorKind::kInput, fmt::format("{}: reading was stopped", path.string()), "cancelled");
      }
      std::size_t begin = 0;
      for (const std::size_t end : batch->ends) {
        on_event(std::string_view(batch->text).substr(begin, end - begin));
        begin = end;
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
  return document;
}

}  // namespace swinscope
