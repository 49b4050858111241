#include "gui/core/bench_trace.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace swinscope::gui {
namespace {

constexpr std::uint64_t kFirstPid = 4242;
constexpr std::uint32_t kDevices = 4;  // of a process that is alone
constexpr std::uint32_t kComputeStreams = 2;
constexpr std::uint32_t kCommunicationStream = 20;
constexpr std::uint32_t kCopyStream = 21;
constexpr int kStages = 4;
constexpr int kBlocksPerStage = 6;
constexpr std::array<const char*, 8> kOperations = {"norm1", "qkv", "attn", "proj", "norm2", "fc1", "act", "fc2"};
constexpr std::uint32_t kDomain = 1;
constexpr std::int32_t kPower = 1;
constexpr std::int32_t kClock = 2;

// xorshift64*, so that the trace is the same everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15 + 1) {}
  std::uint64_t next() {
    state_ ^= state_ >> 12U;
    state_ ^= state_ << 25U;
    state_ ^= state_ >> 27U;
    return (state_ * 0x2545F4914F6CDD1D) >> 32U;
  }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1));
  }
  // Most are short, a few are long: half a microsecond to half a millisecond.
  std::int64_t kernel_ns() { return between(500, 1000) << between(0, between(1, 9)); }

 private:
  std::uint64_t state_;
};

// One GPU and the thread that feeds it.
class Worker {
 public:
  Worker(RecordSink& sink, std::uint64_t pid, int device)
      : sink_(sink),
        random_(pid - kFirstPid + static_cast<std::uint64_t>(device) + 1),
        pid_(pid),
        device_(device),
        tid_(make_global_tid(pid, pid + 1 + static_cast<std::uint64_t>(device))) {
    launch_ = sink.intern("cudaLaunchKernel");
    copy_ = sink.intern("cudaMemcpyAsync");
    for (int i = 0; i < 240; ++i)
      kernels_.push_back(sink.intern(fmt::format("void cutlass::kernel_{0}<{0}, float, 128>(Params)", i)));
    collective_ = sink.intern("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
  }

  std::int64_t now_ns() const { return now_ns_; }
  std::uint64_t count() const { return count_; }

  void step(int number, std::int64_t begin_ns) {
    now_ns_ = std::max(now_ns_, begin_ns);
    const std::int64_t begin = now_ns_;
    copy();
    for (const char* phase : {"forward", "backward"}) {
      const std::int64_t phase_begin = now_ns_;
      for (int stage = 0; stage < kStages; ++stage)
        run_stage(stage);
      range(phase, phase_begin);
    }
    range(fmt::format("step {}", number), begin);
    const auto gpu = static_cast<std::uint8_t>(device_);
    sink_.add(MetricRecord{now_ns_, MetricSource::kNvml, gpu, kPower, random_.between(300'000, 700'000)});
    sink_.add(MetricRecord{now_ns_, MetricSource::kNvml, gpu, kClock, random_.between(1'200, 1'980)});
  }

 private:
  void run_stage(int stage) {
    const std::int64_t begin = now_ns_;
    for (int block = 0; block < kBlocksPerStage; ++block) {
      const std::int64_t block_begin = now_ns_;
      const std::string path = fmt::format("stage{}.block{}", stage, block);
      for (const char* operation : kOperations) {
        const std::int64_t operation_begin = now_ns_;
        for (std::int64_t i = random_.between(1, 5); i > 0; --i)
          launch(kernels_[random_.next() % kernels_.size()], launch_, stream_++ % kComputeStreams);
        range(fmt::format("{}.{}", path, operation), operation_begin);
      }
      range(path, block_begin);
    }
    launch(collective_, launch_, kCommunicationStream);
    range(fmt::format("stage{}", stage), begin);
  }

  std::int64_t& stream_end(std::uint32_t stream) {
    if (stream >= ends_.size()) ends_.resize(stream + 1);
    return ends_[stream];
  }

  // A call, and the times of the work that it starts.
  template <typename Record>
  void call_and_place(Record& record, StringId call, std::uint32_t stream) {
    ApiRecord api;
    api.start_ns = now_ns_ + random_.between(200, 2'000);
    api.end_ns = api.start_ns + random_.between(1'500, 6'000);
    api.global_tid = tid_;
    api.correlation = ++correlation_ * kDevices + static_cast<std::uint32_t>(device_);
    api.name = call;
    now_ns_ = api.end_ns;
    record.global_pid = make_global_pid(pid_);
    record.device = device_;
    record.context = 1;
    record.stream = stream;
    record.correlation = api.correlation;
    record.start_ns = std::max(stream_end(stream) + random_.between(300, 1'500), api.end_ns + 1'000);
    record.end_ns = record.start_ns + random_.kernel_ns();
    stream_end(stream) = record.end_ns;
    // The queue of launches is not endless: the thread waits now and then.
    now_ns_ = std::max(now_ns_, record.start_ns - 2'000'000);
    sink_.add(api);
    sink_.add(record);
    count_ += 2;
  }

  void launch(StringId kernel, StringId call, std::uint32_t stream) {
    KernelRecord record;
    record.demangled_name = kernel;
    record.short_name = kernel;
    record.grid = {64, 1, 1};
    record.block = {128, 1, 1};
    call_and_place(record, call, stream);
  }

  void copy() {
    MemcpyRecord record;
    record.bytes = 1 << 20;
    record.kind = CopyKind::kHostToDevice;
    record.src_kind = MemoryKind::kPinned;
    record.dst_kind = MemoryKind::kDevice;
    call_and_place(record, copy_, kCopyStream);
  }

  void range(const std::string& name, std::int64_t begin_ns) {
    NvtxRecord record;
    record.start_ns = begin_ns;
    record.end_ns = now_ns_;
    record.global_tid = tid_;
    record.domain = kDomain;
    record.text = sink_.intern(name);
    sink_.add(record);
    ++count_;
  }

  RecordSink& sink_;
  Random random_;
  std::uint64_t pid_;
  int device_;
  std::uint64_t tid_;
  StringId launch_ = kNoString;
  StringId copy_ = kNoString;
  StringId collective_ = kNoString;
  std::vector<StringId> kernels_;
  std::vector<std::int64_t> ends_;  // by stream
  std::int64_t now_ns_ = 0;
  std::uint32_t correlation_ = 0;
  std::uint32_t stream_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace

std::uint64_t write_bench_trace(RecordSink& sink, std::uint64_t events, int rank, int ranks) {
  const std::uint64_t pid = kFirstPid + static_cast<std::uint64_t>(rank);
  RunInfo run;
  run.source = "swinscope";
  run.rank = rank;
  run.world_size = ranks;
  run.global_pid = make_global_pid(pid);
  sink.set_run(run);
  NvtxRecord domain;
  domain.type = NvtxType::kDomain;
  domain.domain = kDomain;
  domain.text = sink.intern("swinscope");
  sink.add(domain);

  std::vector<Worker> workers;
  const int devices = ranks == 1 ? static_cast<int>(kDevices) : 1;
  for (int device = 0; device < devices; ++device) {
    const auto gpu = static_cast<std::uint8_t>(device);
    sink.add(MetricNameRecord{MetricSource::kNvml, gpu, kPower, "Power [mW]"});
    sink.add(MetricNameRecord{MetricSource::kNvml, gpu, kClock, "SM clock [MHz]"});
    workers.emplace_back(sink, pid, device);
  }
  std::uint64_t count = 0;
  for (int step = 0; count < events; ++step) {
    count = 0;
    const std::int64_t begin = std::ranges::max_element(workers, {}, &Worker::now_ns)->now_ns();
    for (Worker& worker : workers) {
      worker.step(step, begin);
      count += worker.count();
    }
  }
  return count;
}

}  // namespace swinscope::gui
