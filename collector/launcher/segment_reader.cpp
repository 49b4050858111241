#include "collector/launcher/segment_reader.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <new>
#include <utility>

#include <pthread.h>

#include "collector/base/unsignalled_thread.h"

namespace swinscope {
namespace {

constexpr std::chrono::milliseconds kPause(5);  // a busy process fills its buffers in a hundred

}  // namespace

SegmentReader::SegmentReader(std::filesystem::path file, Segment segment, RecordingOptions options)
    : file_(std::move(file)),
      segment_(std::move(segment)),
      pid_(options.pid),
      recording_(segment_.view(), std::move(options)) {}

void SegmentReader::set_room(std::int64_t until_ns) {
  std::atomic<std::int64_t>& room = segment_.header().room_until_ns;
  if (room.load(std::memory_order_relaxed) != std::numeric_limits<std::int64_t>::max())
    room.store(until_ns, std::memory_order_relaxed);
}

void SegmentReader::ended(const ProcessEnd& end) {
  const std::lock_guard lock(mutex_);
  if (has_ended()) return;
  end_ = end;
  state_.store(State::kEnded, std::memory_order_release);
}

void SegmentReader::give_up() {
  const std::lock_guard lock(mutex_);
  if (has_ended()) return;
  segment_.header().is_closed.store(1, std::memory_order_release);
  state_.store(State::kGivenUp, std::memory_order_release);
}

bool SegmentReader::work() noexcept {
  constexpr int kMostFailures = 8;
  try {
    return look();
  } catch (const std::exception&) {
    // No memory for what the recording says of itself. Of a process that has ended there are not many more looks.
    if (!has_ended() || ++failures_ < kMostFailures) return false;
  }
  is_done_.store(true, std::memory_order_release);
  return false;
}

bool SegmentReader::look() {
  // Before the last look: what was written before the end is there.
  const bool is_last = has_ended();
  const bool has_more = recording_.work();
  if (has_more || !is_last) return has_more;
  finish();
  return false;
}

void SegmentReader::finish() {
  ProcessEnd end;
  {
    const std::lock_guard lock(mutex_);
    end = end_;
  }
  if (end.cpu_ns >= 0) recording_.ended(end.time_ns, end.cpu_ns);
  recording_.finish(state_.load() == State::kEnded);
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);
  is_done_.store(true, std::memory_order_release);
}

SegmentWorker::SegmentWorker() {
  thread_ = start_unsignalled([this] { run(); });
}

SegmentWorker::~SegmentWorker() {
  {
    const std::lock_guard lock(mutex_);  // else the thread could see the old value, and wait behind the notification
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void SegmentWorker::add(std::shared_ptr<SegmentReader> reader) {
  {
    const std::lock_guard lock(mutex_);
    added_.push_back(std::move(reader));
    count_.fetch_add(1);
  }
  changed_.notify_all();
}

void SegmentWorker::run() {
  pthread_setname_np(pthread_self(), "swinscope-write");
  std::vector<std::shared_ptr<SegmentReader>> mine;
  for (;;) {
    bool has_more = false;
    for (const auto& reader : mine)
      has_more = reader->work() || has_more;
    const auto done = std::remove_if(mine.begin(), mine.end(), [](const auto& reader) { return reader->is_done(); });
    count_.fetch_sub(static_cast<std::size_t>(mine.end() - done));
    mine.erase(done, mine.end());
    std::unique_lock lock(mutex_);
    if (added_.empty() && mine.empty()) {
      changed_.wait(lock, [&] { return !added_.empty() || stop_; });
      if (added_.empty()) return;
    } else if (added_.empty() && !has_more && !stop_) {  // in the end every process has ended: nothing to wait for
      changed_.wait_for(lock, kPause);
    }
    try {
      mine.insert(mine.end(), added_.begin(), added_.end());
    } catch (const std::bad_alloc&) {
      if (!stop_) continue;  // there may be memory at the next look
      count_.fetch_sub(added_.size());
    }
    added_.clear();
  }
}

}  // namespace swinscope
