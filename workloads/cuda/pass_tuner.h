// Choosing among ways to compute products by the time of the whole pass. What is the fastest alone need not be so where
// kernels begin before the one ahead has ended: they share multiprocessors, shared memory and caches.
#pragma once

#include <functional>
#include <vector>

#include "kernels/matmul.h"

namespace swinscope {

struct PassTrials {
  // At first way 0 of each is in use.
  std::function<std::vector<cuda::MatmulChoice>()> open;
  std::function<void(const cuda::MatmulChoice&, int way)> use;  // from the next pass on
  std::function<double()> milliseconds;                         // of a pass, as it now is
  std::function<bool()> over;                                   // whether no further way is to be tried
};

struct TunedPass {
  int trials = 0;
  int exchanged = 0;  // choices that are now others
};

// Tries what is open, one choice after another and again until nothing changes. A way is kept where the pass is faster
// with it than with the best so far, timed before and after it. What is reached so depends on where it begins, so where
// time is left it is done again from the second way of each product, and what is faster stays.
TunedPass tune_pass(const PassTrials& trials);

}  // namespace swinscope
