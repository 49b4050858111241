// The timeline engine on ten million events, without a window: loading, first picture, frames, queries, memory.
//   build/release/bin/timeline_bench [EVENTS]
#include <cstdlib>

#include "gui/core/bench_frames.h"

int main(int argc, char** argv) {
  swinscope::gui::BenchOptions options;
  if (argc > 1) options.events = std::strtoull(argv[1], nullptr, 10);
  return swinscope::gui::run_bench_frames(stdout, options);
}
