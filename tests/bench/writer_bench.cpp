// How many records a second one core writes into a trace file: full-width kernel rows, and CUDA calls.
//   build/dev/bin/writer_bench
#include <filesystem>
#include <string>

#include <benchmark/benchmark.h>
#include <unistd.h>

#include "store/writer.h"

namespace swinscope {
namespace {

namespace fs = std::filesystem;

constexpr int kRowsPerFile = 300'000;

// A path that does not exist yet, on the disk of the temporary folder.
fs::path fresh_path() {
  static int number = 0;
  return fs::temp_directory_path() /
         ("swinscope-bench-" + std::to_string(getpid()) + "-" + std::to_string(++number) + ".db");
}

// Writes one file of `kRowsPerFile` rows per iteration, from creation to the last commit, and removes it untimed.
template <typename MakeRow>
void write_files(benchmark::State& state, WriteMode mode, MakeRow make_row) {
  for (auto _ : state) {
    const fs::path path = fresh_path();
    auto writer = std::make_unique<TraceWriter>(path, mode);
    for (int i = 0; i < kRowsPerFile; ++i)
      writer->add(make_row(*writer, i));
    writer->flush();
    state.PauseTiming();
    writer.reset();
    for (const char* suffix : {"", "-wal", "-shm"})
      fs::remove(path.string() + suffix);
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * kRowsPerFile);
}

// Every column has a value, none NULL.
KernelRecord full_width_kernel(RecordSink& sink, int i) {
  KernelRecord r;
  r.start_ns = 1'000'000'000 + std::int64_t{i} * 5'000;
  r.end_ns = r.start_ns + 3'400;
  r.global_pid = make_global_pid(1234);
  r.graph_node = 100'000 + static_cast<std::uint64_t>(i % 300);
  r.correlation = static_cast<std::uint32_t>(i + 1);
  r.context = 1;
  r.green_context = 1;
  r.stream = 7;
  r.demangled_name = sink.intern("void at::native::vectorized_elementwise_kernel<4, float>(int, float)");
  r.short_name = sink.intern("vectorized_elementwise_kernel");
  r.mangled_name = sink.intern("_ZN2at6native29vectorized_elementwise_kernelILi4EfEEvif");
  r.grid = {2048, 86, 1};
  r.block = {128, 1, 1};
  r.cluster = {2, 1, 1};
  r.launch_type = 1;
  r.cache_config = 1;
  r.registers_per_thread = 96;
  r.static_shared_bytes = 4'096;
  r.dynamic_shared_bytes = 65'536;
  r.local_bytes_per_thread = 16;
  r.local_bytes_total = 250'871'808;
  r.grid_id = 75'429 + i;
  r.shared_bytes_executed = 102'400;
  r.shared_limit_config = 1;
  r.graph = 12;
  return r;
}

ApiRecord api_call(RecordSink& sink, int i) {
  ApiRecord r;
  r.start_ns = 1'000'000'000 + std::int64_t{i} * 5'000;
  r.end_ns = r.start_ns + 4'200;
  r.global_tid = make_global_tid(1234, 1250);
  r.correlation = static_cast<std::uint32_t>(i + 1);
  r.name = sink.intern("cudaLaunchKernel_v7000");
  return r;
}

void write_kernels(benchmark::State& state, WriteMode mode) { write_files(state, mode, full_width_kernel); }
void write_api_calls(benchmark::State& state, WriteMode mode) { write_files(state, mode, api_call); }

BENCHMARK_CAPTURE(write_kernels, live, WriteMode::kLive)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(write_kernels, import, WriteMode::kImport)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(write_api_calls, live, WriteMode::kLive)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(write_api_calls, import, WriteMode::kImport)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace swinscope
