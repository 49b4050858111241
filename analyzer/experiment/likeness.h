// What the steps of a program lose to other GPUs by what those of another program lose on the same GPUs: rates and
// contention are in that loss, sizes in the runs of the two with fewest GPUs.
//
// A part of the loss (work_difference.h) is as large as the other program's times
//   the ratio of bytes     for transfer, what is slowed beside it, sums and copies: all move gradients, whose bytes are
//                          as the time of the optimizer, which moves as many for each;
//   the ratio of launches  for gaps between kernels;
//   the ratio of steps     for the rest.
#pragma once

#include <string>
#include <vector>

#include "analyzer/experiment/scaling_loss.h"

namespace swinscope {

// Of a program's step over the other's.
struct Likeness {
  double bytes = 1;
  double launches = 1;
  double step = 1;
};

// Of two rows with the fewest GPUs. Throws Error(kUsage), saying what is missing, where one was not traced, has no
// kernels of an optimizer, or was run on another GPU or another number of them.
Likeness likeness(const ScalingRow& of, const ScalingRow& like);

double ratio_of(LossPart part, const Likeness& likeness);

// "0.62 times its time in the optimizer, 1.04 times its launches and 0.98 times its step"
std::string likeness_text(const Likeness& likeness);

}  // namespace swinscope
