// The timeline engine's benchmark: ten million events, generated, stored, loaded and drawn.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>

namespace swinscope::gui {

struct BenchOptions {
  std::uint64_t events = 10'000'000;  // of all ranks together
  int ranks = 1;
  int rounds = 3;                // of every load; the median counts
  int frames = 200;              // per picture size, along the path of zooms
  std::filesystem::path folder;  // where the file is made and removed again; empty: the temporary folder
};

// Prints the figures as JSON (schema swinscope.bench_frames/1) to `out` and notes to stderr. Returns 0, or 1 when
// something failed.
int run_bench_frames(std::FILE* out, const BenchOptions& options = {});

}  // namespace swinscope::gui
