// NVTX loads this library within a program's first call, and has every other thread that calls wait until that is done.
// A child that is forked meanwhile would wait for ever: the thread that it waits for is not there. So a fork waits
// until the thread that loads has come through, which its first call of the library shows.
#pragma once

namespace swinscope {

// This thread is within NVTX's initialization, or the library is being loaded.
void loading_begins() noexcept;
// This thread is not.
void loading_ends() noexcept;

}  // namespace swinscope
