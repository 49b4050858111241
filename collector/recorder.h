// The recording of one process: its trace file and the one thread that writes it.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <semaphore.h>

#include "collector/cupti_source.h"
#include "collector/drop_note.h"
#include "collector/identity.h"
#include "collector/nvtx_registry.h"
#include "collector/source.h"
#include "collector/thread_buffers.h"
#include "collector/thread_cpu.h"
#include "store/writer.h"

namespace swinscope {

struct RecorderOptions {
  std::filesystem::path folder;
  RankIdentity identity;
  std::int64_t utc_offset_ns = 0;
  double sample_hz = 10;
  std::int64_t max_bytes = 0;                      // the file ends here; 0: no limit
  std::size_t ring_bytes = std::size_t{2} << 20U;  // for each thread; a power of two
  std::int64_t flush_period_ns = 200'000'000;      // commits at least this often; a killed process loses about as much
};

class Recorder {
 public:
  // Takes the file's name, so that no forked child gets it, and starts the thread, which then opens it. Throws
  // std::system_error when no thread can be started.
  Recorder(RecorderOptions options, NvtxRegistry& registry);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  Recorder(Recorder&&) = delete;
  Recorder& operator=(Recorder&&) = delete;
  // Finishes; no other thread may emit any more.
  ~Recorder();

  ThreadBuffers& buffers() { return buffers_; }
  CuptiSource& cuda() { return *cuda_; }
  // The program ends: takes what CUPTI has, and waits until it is on its way into the file or the time is over.
  void stop_cuda(std::int64_t timeout_ns);
  // A buffer fills faster than usual. Lock-free, and a system call only if the thread is not on its way already.
  void wake();

  // Ends the recording and waits for the file to be finished. False when it took longer: the file then stays as it is
  // after a kill. Threads may go on emitting; nobody reads it.
  bool finish(std::int64_t timeout_ns);

  // Keeps the writer thread out of SQLite, so that a forked child finds SQLite's memory in order. False when the thread
  // could not be stopped in time (a hanging disk).
  bool stop_for_fork();
  void resume_after_fork();

 private:
  // Other signals are the program's; the one that tells of a file that is too large must not end it either.
  void start_thread();
  void run();
  void claim_file();
  void open_file();
  void wait();
  void poll_sources();
  void flush();
  void finish_file();
  void failed(const std::string& reason);
  void check_size();
  void discard();
  RunInfo describe() const;
  void update_run(bool complete);
  // Runs an action that writes; returns whether it succeeded.
  template <typename Action>
  bool attempt(Action action);

  RecorderOptions options_;
  std::int64_t start_ns_;
  std::uint64_t global_pid_;
  ThreadBuffers buffers_;
  std::vector<std::unique_ptr<Source>> sources_;
  CuptiSource* cuda_ = nullptr;            // one of sources_
  ThreadCpuSource* thread_cpu_ = nullptr;  // another

  std::atomic<bool> stop_ = false;
  std::atomic<bool> wake_pending_ = false;
  std::atomic<int> forks_waiting_ = 0;
  std::mutex gate_;  // held while in SQLite
  sem_t wake_{};
  sem_t started_{};  // the thread is behind the gate
  sem_t finished_{};

  std::filesystem::path path_;  // empty: the folder takes no file

  // The writer thread's.
  std::unique_ptr<TraceWriter> writer_;
  std::unique_ptr<DropNote> note_;
  bool needs_roll_back_ = false;
  bool is_full_ = false;  // of max_bytes
  std::string failure_;
  RunInfo run_;                  // facts that do not change
  std::optional<RunInfo> said_;  // as last written
  std::int64_t next_flush_ns_ = 0;
  std::int64_t flush_period_ns_ = 0;
  std::int64_t writer_cpu_ns_ = 0;

  std::thread thread_;
};

}  // namespace swinscope
