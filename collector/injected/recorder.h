// The thread within a process that nobody records from outside: reads the process's own segment into its file.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>

#include <semaphore.h>

#include "collector/injected/process_recording.h"
#include "collector/segment/segment.h"

namespace swinscope {

class Recorder {
 public:
  // Takes the file's name, so that no forked child gets it, and starts the thread. Throws std::system_error when no
  // thread can be started.
  Recorder(const SegmentView& segment, RecordingOptions options);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  Recorder(Recorder&&) = delete;
  Recorder& operator=(Recorder&&) = delete;
  // Finishes; no other thread may emit any more.
  ~Recorder();

  // Ends the recording and waits for the file to be finished. False when it took longer: the file then stays as it is
  // after a kill. Threads may go on emitting; nobody reads it.
  bool finish(std::int64_t timeout_ns);

  // Keeps the thread out of SQLite, so that a forked child finds SQLite's memory in order. False when the thread could
  // not be stopped in time (a hanging disk).
  bool stop_for_fork();
  void resume_after_fork();

 private:
  // Other signals are the program's; the one that tells of a file that is too large must not end it either.
  void start_thread();
  void run();
  void run_guarded();
  void pause();

  ProcessRecording recording_;
  std::atomic<bool> stop_ = false;
  std::atomic<int> forks_waiting_ = 0;
  std::mutex gate_;  // held while in SQLite
  sem_t wake_{};
  sem_t started_{};  // the thread is behind the gate
  sem_t finished_{};
  std::thread thread_;
};

}  // namespace swinscope
