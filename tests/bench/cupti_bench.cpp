// The path of a kernel and its launch, from CUPTI's buffers to committed rows, without a GPU: fabricated records as the
// program's threads would produce them, one writer. Prints records per second of the writer's CPU time, bytes of file
// per record, and what a writer that cannot keep up costs.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "collector/base/clock.h"
#include "collector/cupti/cupti_source.h"
#include "store/writer.h"
#include "tests/unit/collector/cuda_writer.h"
#include "tests/unit/collector/fake_cupti.h"

namespace {

using namespace swinscope;

constexpr std::int64_t kFlushNs = 200'000'000;

struct Outcome {
  std::int64_t kernels = 0;
  std::int64_t refused = 0;
  double writer_cpu_s = 0;
  double wall_s = 0;
  double file_bytes = 0;
  std::size_t high_water = 0;
};

// Pairs at `rate` a second (0: as fast as they go) for `pairs` of them.
Outcome run(const std::filesystem::path& path, std::int64_t pairs, double rate) {
  std::filesystem::remove(path);
  test::FakeCuptiState state;
  test::name_calls(state);
  Outcome outcome;
  const std::int64_t begin_ns = monotonic_ns();
  {
    TraceWriter writer(path, WriteMode::kLive);
    test::CudaWriter sink(writer);
    CuptiSource source(make_global_pid(1), 0);
    source.begin([&] { return OpenedCupti{std::make_unique<test::FakeCupti>(state), "fake", ""}; }, {}, {}, nullptr);
    constexpr const char* kNames[] = {"_Z6first_iPf", "_Z7second_iPf", "_ZN2at6native3fooILi4EfEEvi"};
    std::atomic<bool> done = false;
    std::atomic<std::int64_t> refused = 0;
    std::thread program([&] {
      for (std::int64_t i = 0; i < pairs; ++i) {
        if (rate > 0 && i % 16 == 0) {
          while (static_cast<double>(monotonic_ns() - begin_ns) < static_cast<double>(i) * 1e9 / rate)
            std::this_thread::yield();
        }
        const auto n = static_cast<std::uint32_t>(i + 1);
        const bool launched = test::emit(state, test::fake_launch(n, 1 + i * 1000));
        const bool ran = test::emit(state, test::fake_kernel(n, 1 + i * 1000 + 500, kNames[i % 3]));
        if (!launched || !ran) ++refused;
      }
      done = true;
    });
    std::thread thread([&] {
      const std::int64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
      std::int64_t next_ns = monotonic_ns() + kFlushNs;
      while (!done) {
        if (source.poll(sink)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        if (monotonic_ns() < next_ns) continue;
        source.before_flush(sink);
        writer.flush();
        source.flushed();
        next_ns = monotonic_ns() + kFlushNs;
      }
      source.stop();
      source.finish(sink);
      writer.flush();
      outcome.writer_cpu_s = static_cast<double>(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns) / 1e9;
    });
    program.join();
    thread.join();
    outcome.wall_s = static_cast<double>(monotonic_ns() - begin_ns) / 1e9;
    outcome.refused = refused;
    outcome.kernels = pairs - outcome.refused;
    RunInfo info;
    source.describe(info);
    for (const NamedValue& fact : info.collector) {
      if (fact.name == "cuda.buffers_high_water_bytes") outcome.high_water = std::stoul(fact.value);
    }
    writer.finish();
  }
  outcome.file_bytes = static_cast<double>(std::filesystem::file_size(path));
  return outcome;
}

void print(const char* what, const Outcome& o) {
  const auto pairs = static_cast<double>(std::max<std::int64_t>(o.kernels, 1));
  std::printf(
      "%-34s %9lld pairs in %6.2f s, writer %6.2f s of CPU: %8.0f kernels + launches per second of one core, lost "
      "%lld, "
      "%.0f bytes of file a pair, buffers %.1f MiB at most\n",
      what, static_cast<long long>(o.kernels), o.wall_s, o.writer_cpu_s, pairs / o.writer_cpu_s,
      static_cast<long long>(o.refused), o.file_bytes / pairs, static_cast<double>(o.high_water) / (1U << 20U));
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path path = argc > 1 ? argv[1] : "/tmp/cupti_bench.db";
  print("50,000 pairs/s for 3 s", run(path, 150'000, 50'000));
  print("150,000 pairs/s for 3 s", run(path, 450'000, 150'000));
  print("as fast as one thread goes", run(path, 1'500'000, 0));
  std::filesystem::remove(path);
  return 0;
}
