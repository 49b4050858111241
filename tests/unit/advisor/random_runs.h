// Random runs: of a program by the rules of a replay, and of calls and kernels at any times.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "tests/unit/analyzer/hand_trace.h"
#include "tests/unit/analyzer/random_trace.h"

namespace swinscope::test {

inline constexpr std::array<Stream, 3> kStreams = {{{7}, {8}, {9}}};

// A program of one thread and what happens when it runs, by the rules.
class Program {
 public:
  Program(unsigned seed, std::int64_t unit_ns) : dice_(seed), hand_(unit_ns), rank_(hand_.add_rank()) {}

  Trace run() {
    warm_up();
    for (int step = 0; step < 3; ++step) {
      const std::int64_t begin = now_;
      for (int i = 0; i < 60; ++i)
        act();
      wait_for_all();
      rank_.step(begin, now_);
    }
    return hand_.build();
  }

 private:
  static constexpr std::int64_t kLatency = 5;
  static constexpr std::int64_t kGap = 1;
  static constexpr std::int64_t kEventDelay = 1;
  static constexpr std::int64_t kWake = 5;
  static constexpr std::int64_t kSync = 5;

  // Often enough to be known: what a delay is when nothing else delays.
  void warm_up() {
    for (int i = 0; i < 3; ++i)
      wait_for_all();
    for (int i = 0; i < 8; ++i) {
      launch(0, 10);
      now_ += 100;
    }
    for (int i = 0; i < 8; ++i)
      launch(0, 50);
    wait_for_stream(1, 0);
    launch(1, 10);
    wait_for_all();
  }

  void act() {
    const auto stream = static_cast<std::size_t>(dice_.between(0, 2));
    switch (dice_.between(0, 9)) {
      case 0:
        return wait_for_stream(stream, (stream + 1) % kStreams.size());
      case 1:
        return sync(SyncType::kStream, kStreams.at(stream), {}, end_.at(stream));
      case 2:
        return wait_for_event(stream);
      case 3:
        now_ += dice_.between(0, 80);
        return;
      default:
        launch(stream, dice_.between(1, 60));
        now_ += dice_.between(0, 10);
    }
  }

  void launch(std::size_t stream, std::int64_t duration) {
    std::int64_t start = now_ + kLatency;
    if (end_.at(stream) > 0) start = std::max(start, end_.at(stream) + kGap);
    if (awaited_.at(stream) > 0) start = std::max(start, awaited_.at(stream) + kEventDelay);
    awaited_.at(stream) = 0;
    end_.at(stream) = start + duration;
    rank_.launch(fmt::format("k{}", dice_.between(0, 5)), now_, start, start + duration, kStreams.at(stream));
    now_ += 2;
  }

  CudaEvent record(std::size_t stream) {
    const CudaEvent event{static_cast<std::uint32_t>(dice_.between(1, 4)), ++number_};
    rank_.record(event, now_, kStreams.at(stream));
    now_ += 1;
    return event;
  }

  void wait_for_stream(std::size_t stream, std::size_t other) {
    const CudaEvent event = record(other);
    rank_.sync(SyncType::kStreamWaitEvent, now_, now_ + 1, kStreams.at(stream), event);
    now_ += 1;
    awaited_.at(stream) = std::max(awaited_.at(stream), end_.at(other));
  }

  void wait_for_event(std::size_t stream) {
    const CudaEvent event = record(stream);
    sync(SyncType::kEvent, {0}, event, end_.at(stream));
  }

  void wait_for_all() { sync(SyncType::kContext, {0}, {}, std::ranges::max(end_)); }

  void sync(SyncType type, const Stream& stream, const CudaEvent& event, std::int64_t awaited) {
    const std::int64_t end = std::max(now_ + kSync, awaited > 0 ? awaited + kWake : 0);
    rank_.sync(type, now_, end, stream, event);
    now_ = end;
  }

  Dice dice_;
  HandTrace hand_;
  HandRank& rank_;
  std::int64_t now_ = 10;
  std::uint64_t number_ = 0;
  std::array<std::int64_t, 3> end_{};      // of what was launched last; 0: nothing was
  std::array<std::int64_t, 3> awaited_{};  // by what is launched next
};

inline void add_random_wait(HandRank& rank, Dice& dice, std::int64_t begin) {
  const Stream on = kStreams.at(static_cast<std::size_t>(dice.between(0, 2)));
  const CudaEvent event{static_cast<std::uint32_t>(dice.between(1, 3)), static_cast<std::uint64_t>(dice.between(0, 9))};
  if (dice.one_in(2)) return rank.record(event, begin, on, static_cast<std::uint64_t>(dice.between(1, 3)));
  rank.sync(static_cast<SyncType>(dice.between(1, 4)), begin, begin + dice.between(0, 200), on, event);
}

// Of any times, and with collectives that stand anywhere.
inline Trace random_hand_trace(unsigned seed, int ranks, bool with_waits) {
  Dice dice(seed);
  HandTrace hand;
  for (int r = 0; r < ranks; ++r) {
    HandRank& rank = hand.add_rank();
    std::int64_t now = 0;
    for (int i = 0; i < 200; ++i) {
      now += dice.between(0, 10);
      const std::int64_t begin = dice.one_in(10) ? now - dice.between(0, 30) : now;
      if (with_waits && dice.one_in(4)) add_random_wait(rank, dice, begin);
      const auto thread = static_cast<std::uint64_t>(dice.between(1, 3));
      const std::uint32_t call = rank.call(dice.one_in(5) ? "cudaStreamSynchronize" : "cudaLaunchKernel", begin,
                                           begin + dice.between(0, 30), thread);
      for (std::int64_t k = dice.one_in(20) ? dice.between(2, 5) : dice.between(0, 1); k > 0; --k) {
        const std::int64_t start = begin + dice.between(-5, 300);
        rank.kernel(ranks > 1 && dice.one_in(10) ? "ncclDevKernel_AllReduce(Args)" : fmt::format("k{}", i % 7),
                    i % 100 == 99 && k == 1 ? 0 : call, start, start + dice.between(0, 100),
                    kStreams.at(static_cast<std::size_t>(dice.between(0, 2))), static_cast<std::uint64_t>(k > 1));
      }
    }
    rank.step(0, now / 2);
    rank.step(now / 2, now + 1);
  }
  return hand.build();
}

}  // namespace swinscope::test
