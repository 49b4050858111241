// What of the library belongs to this very process: in a page that the kernel zeroes in a forked child, however it was
// forked. So a child finds nothing begun, without a handler that would have to run and without a lock.
#pragma once

#include <atomic>
#include <cstdint>

#include "collector/base/capture_window.h"
#include "collector/segment/thread_buffers.h"

namespace swinscope {

class CudaRecorder;
class Recorder;

enum class Phase : std::uint32_t { kIdle, kBeginning, kRecording, kOver };

// All zero is the state of a process in which nothing has begun.
struct ProcessState {
  std::atomic<Phase> phase;
  std::atomic<std::uint32_t> mark;  // of this process alone among its forks; 0: nothing is recorded
  SegmentView segment;
  ThreadBuffers buffers;
  std::uint8_t generation;  // differs between a process and its forked children
  Recorder* recorder;       // where nobody records from outside
  std::atomic<CudaRecorder*> cuda;
  RangeWindow* window;  // null: ranges open none
};

// The page. Null when there is no memory for it.
ProcessState* process_state() noexcept;

}  // namespace swinscope
