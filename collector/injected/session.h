// The recording of this process as the injected library sees it: begun by the first client, begun anew in a forked
// child, ended with the process. Everything here lives until the process is gone; nothing is ever destroyed.
//
// Under `record` a process gets a segment and nothing else: no thread, no descriptor, no lock. Where `record` is out of
// reach (another host, another file system), or the library was injected by hand, a thread of the library writes.
#pragma once

#include <cstdint>

#include "collector/nvtx/nvtx_registry.h"
#include "collector/segment/thread_buffers.h"

namespace swinscope {

// Begins the recording if it may (the environment names a folder: SWINSCOPE_OUT) and has not. False: nothing is
// recorded.
bool ensure_session() noexcept;

// A client of NVTX is being initialized on this thread; see loading.h.
void session_is_loading() noexcept;

// Whether there is memory for an exception. Where there was none as the library was loaded, C++ keeps none for it, and
// a throw would end the program.
bool can_throw() noexcept;

// CUDA is about to be initialized: records its activity too, if that is wanted.
void begin_cuda() noexcept;

// Ranges of the program open and close the window in which CUDA is recorded, if it is one that they do.
bool session_watches_ranges() noexcept;
struct EventDetails;
void session_range_begins(std::uint32_t domain, int level, const EventDetails& details) noexcept;
void session_range_popped(std::uint32_t domain, int level) noexcept;

// Null when nothing is recorded.
NvtxRegistry* session_registry() noexcept;
// For a thread that has a lane.
const NvtxRegistry& recorded_registry() noexcept;

// The calling thread's lane; null when nothing is recorded (never begun, over, too many threads). Then an event of this
// kind is counted, where something listens.
ThreadBuffer* session_buffer(DropKind kind) noexcept;
// An end whose beginning was counted counts no more.
ThreadBuffer* session_buffer() noexcept;

// Differs between a process and its forked children.
std::uint8_t session_generation() noexcept;

// An event was not recorded although something is listening.
void session_drop(DropKind kind) noexcept;

}  // namespace swinscope
