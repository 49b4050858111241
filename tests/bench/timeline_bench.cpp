// The timeline engine on ten million events of one rank or of several, without a window: loading, first picture,
// frames, queries, memory.
//   build/release/bin/timeline_bench [EVENTS [RANKS]]
#include <algorithm>
#include <cstdlib>

#include "gui/core/bench_frames.h"

int main(int argc, char** argv) {
  swinscope::gui::BenchOptions options;
  if (argc > 1) options.events = std::strtoull(argv[1], nullptr, 10);
  if (argc > 2) options.ranks = std::max(1, std::atoi(argv[2]));
  return swinscope::gui::run_bench_frames(stdout, options);
}
