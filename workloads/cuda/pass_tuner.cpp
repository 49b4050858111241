#include "workloads/cuda/pass_tuner.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

namespace swinscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRounds = 3;
constexpr double kRoundMilliseconds = 12.0;
constexpr double kFasterBy = 0.998;

class Tuner {
 public:
  Tuner(cuda::MatmulLibrary& library, const PassUnderTest& pass, cuda::Stream stream, double seconds)
      : library_(library),
        pass_(pass),
        stream_(stream),
        end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}

  TunedPass tune() {
    pass_.run(stream_);  // kernels are loaded at their first launch, which a capture does not allow everywhere
    cuda::synchronize(stream_);
    time();  // the clocks rise
    best_ = time();
    try_all(true);
    try_all(false);
    return tuned_;
  }

 private:
  bool over() const { return Clock::now() >= end_; }

  // Milliseconds of a pass, the best of a few rounds.
  double time() {
    cuda::Graph graph;
    graph.begin_capture(stream_);
    pass_.run(stream_);
    graph.end_capture(stream_);
    const auto round = [&](int passes) {
      begin_.record(stream_);
      for (int i = 0; i < passes; ++i)
        graph.launch(stream_);
      ended_.record(stream_);
      return static_cast<double>(cuda::Event::milliseconds(begin_, ended_)) / passes;
    };
    const int passes = std::max(2, static_cast<int>(kRoundMilliseconds / std::max(round(1), 1e-3)));
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kRounds; ++i)
      best = std::min(best, round(passes));
    return best;
  }

  // Pairs first: they decide which products there are.
  void try_all(bool pairs) {
    for (const cuda::MatmulChoice& choice : library_.open_choices()) {
      if (choice.is_pair == pairs) try_ways(choice);
    }
  }

  void use(const cuda::MatmulChoice& choice, int way) {
    library_.use(choice, way);
    if (choice.is_pair) pass_.build();
  }

  void try_ways(const cuda::MatmulChoice& choice) {
    int kept = 0;
    for (int way = 1; way < choice.ways && !over(); ++way) {
      ++tuned_.trials;
      use(choice, way);
      const double with = time();
      if (with < best_ * kFasterBy) {
        // The GPU may only have become faster by itself.
        use(choice, kept);
        best_ = time();
        use(choice, way);
        if (with < best_ * kFasterBy) {
          best_ = with;
          kept = way;
          continue;
        }
      }
      use(choice, kept);
    }
    if (kept != 0) ++tuned_.exchanged;
  }

  cuda::MatmulLibrary& library_;
  const PassUnderTest& pass_;
  cuda::Stream stream_;
  Clock::time_point end_;
  cuda::Event begin_, ended_;
  double best_ = 0.0;
  TunedPass tuned_;
};

}  // namespace

TunedPass tune_pass(cuda::MatmulLibrary& library, const PassUnderTest& pass, cuda::Stream stream, double seconds) {
  return Tuner(library, pass, stream, seconds).tune();
}

}  // namespace swinscope
