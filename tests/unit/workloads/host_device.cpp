#include "tests/unit/workloads/host_device.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>

#include <sys/mman.h>

#include "kernels/convert.h"
#include "tests/unit/workloads/host_device_memory.h"

using EventClock = std::chrono::steady_clock;

// Where a stream was when it was recorded, and when that was.
struct CUevent_st {
  CUstream_st* stream = nullptr;
  CUgraphExec_st* graph = nullptr;
  std::size_t pieces = 0;
  EventClock::time_point time;
};

namespace swinscope {
namespace test {
namespace {

HostDeviceCounts counts;
cuda::DeviceInfo gpu = {.name = "host memory"};
std::optional<std::vector<std::string>> recorded;  // while there is a recording

std::uint16_t to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00U);
  const float size = std::abs(value);
  if (size >= 65520.0F) return static_cast<std::uint16_t>(sign | 0x7c00U);
  if (size < 0x1p-14F) {
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::nearbyint(std::ldexp(size, 24))));
  }
  const int exponent = std::ilogb(size);
  const auto mantissa = static_cast<int>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(((exponent + 15) << 10) + mantissa - 1024));
}

float from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  float size = std::ldexp(static_cast<float>(exponent == 0 ? mantissa : mantissa + 1024), std::max(exponent, 1) - 25);
  if (exponent == 31) size = mantissa == 0 ? HUGE_VALF : std::nanf("");
  return (bits & 0x8000U) == 0 ? size : -size;
}

std::uint16_t to_bfloat(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return 0x7fc0U;
  return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}

float from_bfloat(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

}  // namespace

HostDeviceCounts host_device_counts() { return counts; }

HostDeviceRecording::HostDeviceRecording() { recorded.emplace(); }
HostDeviceRecording::~HostDeviceRecording() { recorded.reset(); }
std::vector<std::string> HostDeviceRecording::take() { return std::exchange(*recorded, {}); }

void set_host_gpu(const cuda::DeviceInfo& info) { gpu = info; }

void launch(cuda::Stream stream, std::function<void()> work, const std::string& operation) {
  if (recorded) return recorded->push_back(operation);
  if (stream != nullptr && stream->capturing != nullptr) {
    stream->capturing->work.push_back(std::move(work));
    ++stream->pieces;
    return;
  }
  ++counts.launches;
  work();
}

std::vector<float> load(ElementType type, const void* from, std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  if (type == ElementType::kFp32) {
    std::memcpy(values.data(), from, values.size() * sizeof(float));
    return values;
  }
  const auto* const bits = static_cast<const std::uint16_t*>(from);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = type == ElementType::kFp16 ? from_half(bits[i]) : from_bfloat(bits[i]);
  return values;
}

void store(ElementType type, const std::vector<float>& values, void* to) {
  if (type == ElementType::kFp32) {
    std::memcpy(to, values.data(), values.size() * sizeof(float));
    return;
  }
  auto* const bits = static_cast<std::uint16_t*>(to);
  for (std::size_t i = 0; i < values.size(); ++i)
    bits[i] = type == ElementType::kFp16 ? to_half(values[i]) : to_bfloat(values[i]);
}

}  // namespace test

namespace cuda {
namespace {

// Addresses that nothing may touch.
void* reserve(std::int64_t bytes) {
  void* const data =
      mmap(nullptr, static_cast<std::size_t>(bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  return data;
}

void* take(std::int64_t bytes) {
  if (bytes == 0) return nullptr;
  if (test::recorded) return reserve(bytes);
  void* const data = std::aligned_alloc(256, static_cast<std::size_t>((bytes + 255) / 256 * 256));
  if (data == nullptr) throw std::bad_alloc();
  std::memset(data, 0xff, static_cast<std::size_t>(bytes));
  return data;
}

void give(void* data, std::int64_t bytes) {
  if (data == nullptr) return;
  if (test::recorded) {
    munmap(data, static_cast<std::size_t>(bytes));
  } else {
    std::free(data);
  }
}

void copy(void* to, const void* from, std::int64_t bytes, Stream stream) {
  test::launch(stream, [=] { std::copy_n(static_cast<const std::byte*>(from), bytes, static_cast<std::byte*>(to)); });
}

}  // namespace

int device_count() { return 1; }
DeviceInfo device_info() { return test::gpu; }
std::int64_t free_memory() { return 0; }
void use_device(int /*number*/) {}
std::string device_unique_id() { return "host memory"; }
std::vector<std::string> accessible_devices() { return {}; }

void synchronize(Stream /*stream*/) { ++test::counts.waits; }

DeviceBuffer::DeviceBuffer(std::int64_t bytes) : data_(take(bytes)), bytes_(bytes) {}
DeviceBuffer::~DeviceBuffer() { give(data_, bytes_); }
DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}
void DeviceBuffer::poison(Stream stream) { cuda::poison(data_, bytes_, stream); }

PinnedBuffer::PinnedBuffer(std::int64_t bytes) : data_(take(bytes)), bytes_(bytes) {}
PinnedBuffer::~PinnedBuffer() { give(data_, bytes_); }
PinnedBuffer::PinnedBuffer(PinnedBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
PinnedBuffer& PinnedBuffer::operator=(PinnedBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void clear(void* data, std::int64_t bytes, Stream stream) {
  test::launch(stream, [=] { std::fill_n(static_cast<std::byte*>(data), bytes, std::byte{0}); });
}
void poison(void* data, std::int64_t bytes, Stream stream) {
  test::launch(stream, [=] { std::fill_n(static_cast<std::byte*>(data), bytes, std::byte{0xff}); });
}
void copy_async_to_device(void* device, const void* host, std::int64_t bytes, Stream stream) {
  copy(device, host, bytes, stream);
}
void copy_async_to_host(void* host, const void* device, std::int64_t bytes, Stream stream) {
  copy(host, device, bytes, stream);
}
void copy_on_device(void* to, const void* from, std::int64_t bytes, Stream stream) { copy(to, from, bytes, stream); }
void copy_to_device(void* device, const void* host, std::int64_t bytes, Stream stream) {
  copy(device, host, bytes, stream);
  synchronize(stream);
}
void copy_to_host(void* host, const void* device, std::int64_t bytes, Stream stream) {
  copy(host, device, bytes, stream);
  synchronize(stream);
}

OwnedStream::OwnedStream(bool /*urgent*/) : stream_(new CUstream_st) {}
OwnedStream::~OwnedStream() { delete stream_; }

Event::Event() : event_(new CUevent_st) {}
Event::~Event() { delete event_; }
void Event::record(Stream stream) {
  *event_ = {.time = EventClock::now()};
  if (stream != nullptr) *event_ = {stream, stream->capturing, stream->pieces, event_->time};
}
void Event::record_in_graph(Stream /*stream*/) {}
// As a GPU's driver has it: a stream that waits for an event of a capture belongs to it from then on.
void Event::hold(Stream stream) const {
  if (event_->graph == nullptr || event_->stream == stream) return;
  if (stream->capturing == nullptr) {
    stream->capturing = event_->graph;
    stream->pieces = stream->awaited = 0;
    event_->graph->joined.push_back(stream);
  }
  event_->stream->awaited = std::max(event_->stream->awaited, event_->pieces);
}
void Event::wait() const { ++test::counts.waits; }
bool Event::happened() const { return true; }
float Event::milliseconds(const Event& begin, const Event& end) {
  return std::chrono::duration<float, std::milli>(end.event_->time - begin.event_->time).count();
}

Graph::~Graph() { delete executable_; }
void Graph::begin_capture(Stream stream) {
  executable_ = new CUgraphExec_st;
  stream->capturing = executable_;
}
void Graph::end_capture(Stream stream) {
  stream->capturing = nullptr;
  for (CUstream_st* const joined : executable_->joined) {
    joined->capturing = nullptr;
    if (joined->awaited < joined->pieces) throw Error("a stream ends the capture with work nobody waits for", false);
  }
  nodes_ = executable_->work.size();
}
void Graph::launch(Stream /*stream*/) const {
  ++test::counts.graph_launches;
  for (const std::function<void()>& work : executable_->work)
    work();
}

void convert(std::int64_t count, ElementType from_type, const void* from, ElementType to_type, void* to,
             Stream stream) {
  test::launch(stream, [=] { test::store(to_type, test::load(from_type, from, count), to); });
}

}  // namespace cuda
}  // namespace swinscope
