// What one loader thread makes of JPEG files in a second: images of 224 x 224 for a model, from bytes in memory.
#include <cstdint>
#include <map>
#include <vector>

#include <benchmark/benchmark.h>

#include "workloads/images/jpeg_decoder.h"
#include "workloads/images/jpeg_encoder.h"
#include "workloads/images/prepare.h"
#include "workloads/images/procedural.h"

namespace swinscope {
namespace {

constexpr int kSize = 224;

// Pictures of the given side; the same ones for each benchmark.
const std::vector<std::uint8_t>& picture(int side) {
  static std::map<int, std::vector<std::uint8_t>> pictures;
  auto [entry, is_new] = pictures.try_emplace(side);
  if (is_new) entry->second = encode_jpeg(draw_procedural("bench", 1, 3, side, 0), 90);
  return entry->second;
}

void train(benchmark::State& state) {
  const std::vector<std::uint8_t>& jpeg = picture(static_cast<int>(state.range(0)));
  std::vector<float> prepared(std::size_t{3} * kSize * kSize);
  std::int64_t sample = 0;
  for ([[maybe_unused]] auto _ : state)
    prepare_for_training(jpeg, "bench", kSize, {sample++, 0, 0.08}, prepared);
  state.counters["images"] = benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void evaluate(benchmark::State& state) {
  const std::vector<std::uint8_t>& jpeg = picture(static_cast<int>(state.range(0)));
  std::vector<float> prepared(std::size_t{3} * kSize * kSize);
  for ([[maybe_unused]] auto _ : state)
    prepare_for_evaluation(jpeg, "bench", kSize, prepared);
  state.counters["images"] = benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void decode(benchmark::State& state) {
  const std::vector<std::uint8_t>& jpeg = picture(static_cast<int>(state.range(0)));
  for ([[maybe_unused]] auto _ : state)
    benchmark::DoNotOptimize(JpegDecoder(jpeg, "bench").decode(static_cast<int>(state.range(1))));
}

BENCHMARK(train)->Arg(224)->Arg(500)->Arg(1600)->Unit(benchmark::kMillisecond);
BENCHMARK(evaluate)->Arg(224)->Arg(500)->Arg(1600)->Unit(benchmark::kMillisecond);
BENCHMARK(decode)->Args({224, 1})->Args({500, 1})->Args({1600, 1})->Args({1600, 2})->Args({1600, 4})->Unit(
    benchmark::kMillisecond);

}  // namespace
}  // namespace swinscope
