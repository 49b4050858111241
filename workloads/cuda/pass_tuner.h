// Choosing among ways to compute products by the time of the whole pass. What is the fastest alone need not be so where
// kernels begin before the one ahead has ended: they share multiprocessors, shared memory and caches.
#pragma once

#include <functional>

#include "kernels/device.h"
#include "kernels/matmul.h"

namespace swinscope {

struct PassUnderTest {
  std::function<void()> build;            // makes the pass anew, asking the library for its products
  std::function<void(cuda::Stream)> run;  // enqueues it
};

struct TunedPass {
  int trials = 0;
  int exchanged = 0;  // choices that are now others
};

// Tries what the library leaves open, one choice after another, each in a graph of the whole pass, until all is tried
// or `seconds` are over. A way is kept where the pass is faster with it, twice. The pass is left as built last.
TunedPass tune_pass(cuda::MatmulLibrary& library, const PassUnderTest& pass, cuda::Stream stream, double seconds);

}  // namespace swinscope
