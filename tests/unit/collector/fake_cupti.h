// A CUPTI that delivers fabricated records through the buffers of the collector, as the real one does: it asks for a
// buffer, fills it, and hands it back on whichever thread it likes.
#pragma once

#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "collector/cupti/cupti_api.h"

namespace swinscope::test {

// What the test keeps of it; the source owns the API object.
struct FakeCuptiState {
  cupti::Result subscribe_result = cupti::kSuccess;
  std::string holder;
  cupti::Result enable_result = cupti::kSuccess;
  cupti::BufferRequested requested = nullptr;
  cupti::BufferCompleted completed = nullptr;
  cupti::Callback callback = nullptr;
  void* user_data = nullptr;
  std::set<cupti::Kind> kinds;
  std::set<std::pair<std::uint32_t, std::uint32_t>> calls;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> names;
  std::vector<std::string> order;  // of what the collector called first
  std::size_t dropped = 0;         // reported once
  int flushes = 0;
  std::vector<cupti::Kernel> unmade;  // nodes of a graph whose records CUPTI makes in its next flush
  bool leaves_out_queries = false;
  std::uint32_t version = 130'001;
  std::vector<GpuInfo> devices;
  std::set<std::pair<std::uint32_t, std::uint32_t>> callbacks;  // that are enabled
  int waits = 0;

  std::mutex asked;  // what the collector asks for, which it does from several threads: of all above
  std::mutex mutex;  // of the buffer being filled
  std::uint8_t* buffer = nullptr;
  std::size_t bytes = 0;
  std::size_t used = 0;
};

// Real records are longer than the common beginning that the collector knows: the fake pads them.
inline std::size_t fake_bytes(cupti::Kind kind) {
  switch (kind) {
    case cupti::Kind::kConcurrentKernel:
      return 216;
    case cupti::Kind::kMemcpy:
      return 104;
    case cupti::Kind::kPeerCopy:
      return 112;
    case cupti::Kind::kMemset:
      return 96;
    case cupti::Kind::kRuntime:
    case cupti::Kind::kDriver:
      return sizeof(cupti::Api);
    case cupti::Kind::kMemory:
      return 136;
    case cupti::Kind::kMemoryPool:
      return 80;
    case cupti::Kind::kDevice:
      return 240;
    default:
      return 64;
  }
}

class FakeCupti : public CuptiApi {
 public:
  explicit FakeCupti(FakeCuptiState& state) : s_(state) {}

  std::uint32_t version() override { return s_.version; }
  cupti::Result subscribe(cupti::Callback callback, void* user_data, std::string& holder) override {
    note("subscribe");
    s_.callback = callback;
    s_.user_data = user_data;
    holder = s_.holder;
    return s_.subscribe_result;
  }
  cupti::Result enable_callback(std::uint32_t domain, std::uint32_t callback, bool enable) override {
    const std::lock_guard lock(s_.asked);
    if (enable) s_.callbacks.insert({domain, callback});
    return cupti::kSuccess;
  }
  cupti::Result register_buffers(cupti::BufferRequested requested, cupti::BufferCompleted completed) override {
    note("buffers");
    s_.requested = requested;
    s_.completed = completed;
    return cupti::kSuccess;
  }
  cupti::Result register_clock(cupti::Timestamp) override {
    note("clock");
    return cupti::kSuccess;
  }
  cupti::Result use_system_thread_ids() override { return cupti::kSuccess; }
  cupti::Result set_attribute(int, std::size_t, void*) override { return cupti::kSuccess; }
  cupti::Result enable(cupti::Kind kind, bool enable) override {
    note(enable ? "enable" : "disable");
    const std::lock_guard lock(s_.asked);
    if (enable) {
      s_.kinds.insert(kind);
    } else {
      s_.kinds.erase(kind);
    }
    return s_.enable_result;
  }
  cupti::Result enable_call(std::uint32_t domain, std::uint32_t callback, bool) override {
    const std::lock_guard lock(s_.asked);
    s_.calls.insert({domain, callback});
    return cupti::kSuccess;
  }
  void leave_out_queries() override { s_.leaves_out_queries = true; }
  cupti::Result flush(std::uint32_t) override {
    for (const cupti::Kernel& kernel : std::exchange(s_.unmade, {})) {
      if (!emit_patiently(kernel)) ++s_.dropped;
    }
    const std::lock_guard lock(s_.mutex);
    ++s_.flushes;
    note("flush");
    hand_over();
    return cupti::kSuccess;
  }
  const cupti::Record* next_record(std::uint8_t* buffer, std::size_t valid_bytes,
                                   const cupti::Record* previous) override {
    const auto* at = reinterpret_cast<const std::uint8_t*>(previous);
    const std::size_t offset =
        previous == nullptr ? 0 : static_cast<std::size_t>(at - buffer) + fake_bytes(previous->kind);
    return offset >= valid_bytes ? nullptr : reinterpret_cast<const cupti::Record*>(buffer + offset);
  }
  std::size_t dropped_records() override { return std::exchange(s_.dropped, 0); }
  const char* callback_name(std::uint32_t domain, std::uint32_t callback) override {
    const auto found = s_.names.find({domain, callback});
    return found == s_.names.end() ? nullptr : found->second.c_str();
  }
  std::uint64_t node_id(void* node) override { return reinterpret_cast<std::uintptr_t>(node); }
  std::string error_text(cupti::Result result) override { return "error " + std::to_string(result); }
  std::vector<GpuInfo> devices() override { return s_.devices; }
  void wait_for_gpu() override { ++s_.waits; }

 private:
  void note(const char* call) {
    const std::lock_guard lock(s_.asked);
    s_.order.emplace_back(call);
  }
  // Gives the writer time to empty a buffer, once; without one the rest is dropped at once.
  bool emit_patiently(const cupti::Kernel& kernel);
  void hand_over() {
    if (s_.buffer == nullptr) return;
    std::uint8_t* full = std::exchange(s_.buffer, nullptr);
    s_.completed(nullptr, 0, full, s_.bytes, s_.used);
  }

  FakeCuptiState& s_;
  bool has_waited_in_vain_ = false;
};

// The program's side: a record happens. False when there was no buffer for it.
template <typename Raw>
bool emit(FakeCuptiState& s, const Raw& raw) {
  const std::lock_guard lock(s.mutex);
  const std::size_t size = fake_bytes(raw.kind);
  if (s.buffer != nullptr && s.used + size > s.bytes) {
    std::uint8_t* full = std::exchange(s.buffer, nullptr);
    s.completed(nullptr, 0, full, s.bytes, s.used);
  }
  if (s.buffer == nullptr) {
    std::size_t max_records = 0;
    s.requested(&s.buffer, &s.bytes, &max_records);
    s.used = 0;
    if (s.buffer == nullptr) return false;
  }
  std::memcpy(s.buffer + s.used, &raw, sizeof(raw));
  s.used += size;
  return true;
}

inline bool FakeCupti::emit_patiently(const cupti::Kernel& kernel) {
  constexpr int kLooks = 5000;
  for (int look = 0; look < kLooks; ++look) {
    if (emit(s_, kernel)) return true;
    if (has_waited_in_vain_) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  has_waited_in_vain_ = true;
  return false;
}

inline cupti::Kernel fake_kernel(std::uint32_t correlation, std::int64_t start_ns, const char* name) {
  cupti::Kernel kernel{};
  kernel.kind = cupti::Kind::kConcurrentKernel;
  kernel.registers_per_thread = 32;
  kernel.start = static_cast<std::uint64_t>(start_ns);
  kernel.end = static_cast<std::uint64_t>(start_ns) + 500;
  kernel.context = 1;
  kernel.stream = 7;
  for (int i = 0; i < 3; ++i) {
    kernel.grid[i] = 8;
    kernel.block[i] = 4;
  }
  kernel.correlation = correlation;
  kernel.grid_id = correlation;
  kernel.name = name;
  return kernel;
}

inline constexpr std::uint32_t kFakeLaunch = 211;

inline cupti::Api fake_launch(std::uint32_t correlation, std::int64_t start_ns) {
  cupti::Api call{};
  call.kind = cupti::Kind::kRuntime;
  call.callback = kFakeLaunch;
  call.start = static_cast<std::uint64_t>(start_ns);
  call.end = static_cast<std::uint64_t>(start_ns) + 100;
  call.thread = 99;
  call.correlation = correlation;
  return call;
}

inline void name_calls(FakeCuptiState& s) {
  s.names[{cupti::kRuntimeDomain, 1}] = "cudaDriverGetVersion_v3020";
  s.names[{cupti::kRuntimeDomain, 17}] = "cudaGetDevice_v3020";
  s.names[{cupti::kRuntimeDomain, 41}] = "cudaMemcpyAsync_v3020";
  s.names[{cupti::kRuntimeDomain, 90}] = "cudaDeviceSynchronize_v3020";
  s.names[{cupti::kRuntimeDomain, 150}] = "cudaGetLastError_v3020";
  s.names[{cupti::kRuntimeDomain, kFakeLaunch}] = "cudaLaunchKernel_v7000";
  s.names[{cupti::kDriverDomain, 1}] = "cuInit";
  s.names[{cupti::kDriverDomain, 60}] = "cuCtxGetCurrent";
  s.names[{cupti::kDriverDomain, 110}] = "cuLaunchKernelEx";
}

}  // namespace swinscope::test
