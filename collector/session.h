// The recording of this process as the injected library sees it: begun by the first client, handed on over fork, ended
// with the process. Everything here lives until the process is gone; nothing is ever destroyed.
#pragma once

#include <cstdint>

#include "collector/nvtx_registry.h"
#include "collector/thread_buffers.h"

namespace swinscope {

// Begins the recording if it may (the environment names a folder: SWINSCOPE_OUT) and has not. False: nothing is
// recorded.
bool ensure_session() noexcept;

// CUDA is about to be initialized: records its activity too, if that is wanted.
void begin_cuda() noexcept;

// Ranges of the program open and close the window in which CUDA is recorded, if it is one that they do.
bool session_watches_ranges() noexcept;
struct EventDetails;
void session_range_begins(std::uint32_t domain, int level, const EventDetails& details) noexcept;
void session_range_popped(std::uint32_t domain, int level) noexcept;

NvtxRegistry& session_registry() noexcept;

// The calling thread's buffer; null when nothing is recorded (never begun, over, too many threads).
ThreadBuffer* session_buffer() noexcept;

// After writing to the buffer: has it read soon when it is half full.
void session_written(ThreadBuffer& buffer) noexcept;

// Differs between a process and its forked children.
std::uint8_t session_generation() noexcept;

// An event was not recorded although something is listening.
void session_drop(DropKind kind) noexcept;

}  // namespace swinscope
