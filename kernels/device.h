// What host code needs to name device work without any CUDA header: element types, streams, errors, memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

struct CUstream_st;
struct CUevent_st;
struct CUgraphExec_st;

namespace swinscope {

// How a device tensor is stored. Sums and statistics are always taken in fp32.
enum class ElementType : std::uint8_t { kFp32, kFp16, kBf16 };

constexpr std::int64_t element_bytes(ElementType type) { return type == ElementType::kFp32 ? 4 : 2; }

namespace cuda {

using Stream = CUstream_st*;

// A CUDA or cuBLASLt call that failed: "cudaMalloc(&data_, bytes): out of memory (kernels/device.cpp:12)".
class Error : public std::runtime_error {
 public:
  Error(const std::string& what, bool out_of_memory) : std::runtime_error(what), out_of_memory_(out_of_memory) {}
  bool out_of_memory() const { return out_of_memory_; }

 private:
  bool out_of_memory_;
};

struct DeviceInfo {
  std::string name;
  int major = 0;  // compute capability
  int minor = 0;
  int multiprocessors = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;
  int driver_version = 0;   // as CUDA counts: 13000 for 13.0
  int runtime_version = 0;  // of the runtime in this program
};

// 0 without a driver, too: a program that has CUDA parts runs on machines that have no GPU.
int device_count();
// What the calling thread does from now on is meant for this one, counted from 0.
void use_device(int number);
// Of the current device.
DeviceInfo device_info();
// Likewise: "GPU-" and 32 digits, the same in every process and, for all we know, of no other GPU.
std::string device_unique_id();
// Likewise: the names of the other devices that this process sees and whose memory the current one can access.
std::vector<std::string> accessible_devices();
std::int64_t free_memory();
void synchronize(Stream stream);

// Device memory of one owner. Contents are undefined; kernels must not rely on zeros.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::int64_t bytes);
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  void* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }
  void poison(Stream stream);

 private:
  void* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

// In stream order. Every byte 0; every byte 0xff, which is NaN in each element type: an element that nobody wrote
// shows.
void clear(void* data, std::int64_t bytes, Stream stream);
void poison(void* data, std::int64_t bytes, Stream stream);

// Host memory that the device reads and writes by itself, so that a copy needs no thread to wait for it.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  explicit PinnedBuffer(std::int64_t bytes);
  ~PinnedBuffer();
  PinnedBuffer(PinnedBuffer&& other) noexcept;
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept;
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;

  void* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

// In stream order; they return at once where the host memory is a PinnedBuffer's.
void copy_async_to_device(void* device, const void* host, std::int64_t bytes, Stream stream);
void copy_async_to_host(void* host, const void* device, std::int64_t bytes, Stream stream);
void copy_on_device(void* to, const void* from, std::int64_t bytes, Stream stream);

// Both return when the host memory may be used again.
void copy_to_device(void* device, const void* host, std::int64_t bytes, Stream stream);
void copy_to_host(void* host, const void* device, std::int64_t bytes, Stream stream);

class OwnedStream {
 public:
  // Urgent: what waits on it goes first where there is room for a block of a kernel.
  explicit OwnedStream(bool urgent = false);
  ~OwnedStream();
  OwnedStream(const OwnedStream&) = delete;
  OwnedStream& operator=(const OwnedStream&) = delete;
  OwnedStream(OwnedStream&&) = delete;
  OwnedStream& operator=(OwnedStream&&) = delete;
  Stream get() const { return stream_; }

 private:
  Stream stream_ = nullptr;
};

class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  Event(Event&&) = delete;
  Event& operator=(Event&&) = delete;
  void record(Stream stream);
  // During a capture: recorded in each launch of the graph.
  void record_in_graph(Stream stream);
  // What is enqueued on the stream from now on waits for the last record().
  void hold(Stream stream) const;
  // The host waits, or asks. An event that was never recorded has happened.
  void wait() const;
  bool happened() const;
  // Waits for both; milliseconds on the device's clock.
  static float milliseconds(const Event& begin, const Event& end);

 private:
  CUevent_st* event_ = nullptr;
};

// What was launched on a stream between begin_capture() and end_capture(), launched again as one.
class Graph {
 public:
  Graph() = default;
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  Graph(Graph&&) = delete;
  Graph& operator=(Graph&&) = delete;
  void begin_capture(Stream stream);
  void end_capture(Stream stream);
  bool captured() const { return executable_ != nullptr; }
  std::size_t nodes() const { return nodes_; }
  void launch(Stream stream) const;

 private:
  CUgraphExec_st* executable_ = nullptr;
  std::size_t nodes_ = 0;
};

}  // namespace cuda
}  // namespace swinscope
