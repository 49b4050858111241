// One process's segment as `record` reads it, and the threads that do so, each several segments.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "collector/injected/process_recording.h"
#include "collector/segment/segment.h"

namespace swinscope {

struct ProcessEnd {
  std::int64_t time_ns = 0;
  std::int64_t cpu_ns = -1;  // in all; -1: unknown
};

class SegmentReader {
 public:
  // `options.pid`: as this process sees it, 0 where that is not known.
  SegmentReader(std::filesystem::path file, Segment segment, RecordingOptions options);
  SegmentReader(const SegmentReader&) = delete;
  SegmentReader& operator=(const SegmentReader&) = delete;
  SegmentReader(SegmentReader&&) = delete;
  SegmentReader& operator=(SegmentReader&&) = delete;
  ~SegmentReader() = default;

  const SegmentHeader& header() const { return segment_.header(); }
  // There is room until then, see segment.h. Not where all of it was taken at once.
  void set_room(std::int64_t until_ns);
  std::uint32_t pid() const { return pid_; }

  // Any thread's: everything has been written, by whomever it was.
  void ended(const ProcessEnd& end);
  // Nothing is read any more, though the process lives.
  void give_up();
  bool has_ended() const { return state_.load(std::memory_order_acquire) != State::kLives; }
  bool is_done() const { return is_done_.load(std::memory_order_acquire); }

  // A worker's. True when there is more to do at once.
  bool work() noexcept;

  // After is_done().
  std::vector<DropInfo> untold() { return recording_.untold(); }

 private:
  enum class State : std::uint8_t { kLives, kEnded, kGivenUp };

  bool look();
  void finish();

  int failures_ = 0;  // that the recording does not count itself
  std::filesystem::path file_;
  Segment segment_;
  std::uint32_t pid_;
  ProcessRecording recording_;
  std::mutex mutex_;
  ProcessEnd end_;
  std::atomic<State> state_ = State::kLives;
  std::atomic<bool> is_done_ = false;
};

// A thread.
class SegmentWorker {
 public:
  SegmentWorker();
  SegmentWorker(const SegmentWorker&) = delete;
  SegmentWorker& operator=(const SegmentWorker&) = delete;
  SegmentWorker(SegmentWorker&&) = delete;
  SegmentWorker& operator=(SegmentWorker&&) = delete;
  // Waits for those of its readers that have ended.
  ~SegmentWorker();

  void add(std::shared_ptr<SegmentReader> reader);
  std::size_t count() const { return count_.load(); }

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<SegmentReader>> added_;
  std::atomic<std::size_t> count_ = 0;
  bool stop_ = false;  // under the mutex
  std::thread thread_;
};

}  // namespace swinscope
