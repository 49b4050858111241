// CUPTI as a library of its own, over the fabricated one of the unit tests, with a function that launches a kernel:
// what the collector opens in a program that has no GPU.
#include <algorithm>
#include <ctime>

#include "tests/unit/collector/fake_cupti.h"

namespace {

using swinscope::cupti::Kind;
using swinscope::cupti::Record;
using swinscope::test::FakeCupti;
using swinscope::test::FakeCuptiState;

constexpr std::uint32_t kProfilerStart = 200;
constexpr std::uint32_t kProfilerStop = 201;

FakeCuptiState& state() {
  static auto* const instance = [] {
    auto* made = new FakeCuptiState;  // lives as long as the process, whoever calls last
    swinscope::test::name_calls(*made);
    made->names[{swinscope::cupti::kDriverDomain, kProfilerStart}] = "cuProfilerStart";
    made->names[{swinscope::cupti::kDriverDomain, kProfilerStop}] = "cuProfilerStop";
    return made;
  }();
  return *instance;
}

FakeCupti& api() {
  static auto* const instance = new FakeCupti(state());
  return *instance;
}

std::int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

FAKE_EXPORT int cuptiGetVersion(std::uint32_t* version) { return *version = api().version(), 0; }
FAKE_EXPORT int cuptiSubscribe(void** subscriber, swinscope::cupti::Callback callback, void* user_data) {
  std::string holder;
  *subscriber = &state();
  return api().subscribe(callback, user_data, holder);
}
FAKE_EXPORT int cuptiEnableCallback(std::uint32_t enable, void*, std::uint32_t domain, std::uint32_t callback) {
  return api().enable_callback(domain, callback, enable != 0);
}
FAKE_EXPORT int cuptiGetCallbackName(std::uint32_t domain, std::uint32_t callback, const char** name) {
  *name = api().callback_name(domain, callback);
  return *name == nullptr ? 1 : 0;
}
FAKE_EXPORT int cuptiActivityRegisterCallbacks(swinscope::cupti::BufferRequested requested,
                                               swinscope::cupti::BufferCompleted completed) {
  return api().register_buffers(requested, completed);
}
FAKE_EXPORT int cuptiActivityRegisterTimestampCallback(swinscope::cupti::Timestamp clock) {
  return api().register_clock(clock);
}
FAKE_EXPORT int cuptiSetThreadIdType(int) { return 0; }
FAKE_EXPORT int cuptiActivitySetAttribute(int, std::size_t*, void*) { return 0; }
FAKE_EXPORT int cuptiActivityEnable(Kind kind) { return api().enable(kind, true); }
FAKE_EXPORT int cuptiActivityDisable(Kind kind) { return api().enable(kind, false); }
FAKE_EXPORT int cuptiActivityEnableRuntimeApi(std::uint32_t callback, std::uint8_t enable) {
  return api().enable_call(swinscope::cupti::kRuntimeDomain, callback, enable != 0);
}
FAKE_EXPORT int cuptiActivityEnableDriverApi(std::uint32_t callback, std::uint8_t enable) {
  return api().enable_call(swinscope::cupti::kDriverDomain, callback, enable != 0);
}
FAKE_EXPORT int cuptiActivityFlushAll(std::uint32_t flag) { return api().flush(flag); }
FAKE_EXPORT int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid_bytes, const Record** record) {
  *record = api().next_record(buffer, valid_bytes, *record);
  return *record == nullptr ? 1 : 0;
}
FAKE_EXPORT int cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) {
  return *dropped = api().dropped_records(), 0;
}
FAKE_EXPORT int cuptiGetGraphNodeId(void*, std::uint64_t*) { return 1; }
FAKE_EXPORT int cuptiGetResultString(int, const char** text) { return *text = "fake", 0; }

// The program's side. A kernel of this name, with a number as its dynamic shared memory; true when it was recorded.
FAKE_EXPORT bool fake_launch_named(int number, const char* symbol) {
  FakeCuptiState& s = state();
  static std::uint32_t correlation = 0;
  ++correlation;
  {
    const std::lock_guard lock(s.mutex);
    if (s.kinds.count(Kind::kConcurrentKernel) == 0) return false;
  }
  swinscope::test::emit(s, swinscope::test::fake_launch(correlation, now_ns()));
  auto kernel = swinscope::test::fake_kernel(correlation, now_ns(), symbol);
  kernel.dynamic_shared = number;
  swinscope::test::emit(s, kernel);
  return true;
}
FAKE_EXPORT bool fake_launch(int number) { return fake_launch_named(number, "_Z7steppedPi"); }
FAKE_EXPORT void fake_profiler(bool start) {
  if (state().callback == nullptr) return;
  for (std::uint32_t site = 0; site < 2; ++site) {  // enter, exit
    state().callback(state().user_data, swinscope::cupti::kDriverDomain, start ? kProfilerStart : kProfilerStop, &site);
  }
}
