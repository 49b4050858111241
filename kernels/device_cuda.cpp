#include <string_view>
#include <utility>

#include "kernels/cuda_call.h"
#include "kernels/early_launch.cuh"

namespace swinscope::cuda {
namespace {

std::string describe(const char* call, const char* reason, const char* file, int line) {
  return std::string(call) + ": " + reason + " (" + file + ":" + std::to_string(line) + ")";
}

std::string unique_id(int device) {
  cudaDeviceProp properties{};
  SWINSCOPE_CUDA(cudaGetDeviceProperties(&properties, device));
  std::string id = "GPU-";
  for (const char byte : properties.uuid.bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const auto value = static_cast<unsigned char>(byte);
    id += {kDigits[value / 16], kDigits[value % 16]};
  }
  return id;
}

}  // namespace

void throw_error(cudaError_t status, const char* call, const char* file, int line) {
  throw Error(describe(call, cudaGetErrorString(status), file, line), status == cudaErrorMemoryAllocation);
}

void throw_error(cublasStatus_t status, const char* call, const char* file, int line) {
  throw Error(describe(call, cublasLtGetStatusString(status), file, line), status == CUBLAS_STATUS_ALLOC_FAILED);
}

int device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    // The failure would otherwise be reported by the next call that asks for the last error.
    (void)cudaGetLastError();
    return 0;
  }
  return count;
}

void use_device(int number) { SWINSCOPE_CUDA(cudaSetDevice(number)); }

DeviceInfo device_info() {
  int device = 0;
  SWINSCOPE_CUDA(cudaGetDevice(&device));
  cudaDeviceProp properties{};
  SWINSCOPE_CUDA(cudaGetDeviceProperties(&properties, device));
  DeviceInfo info;
  info.name = properties.name;
  info.major = properties.major;
  info.minor = properties.minor;
  info.multiprocessors = properties.multiProcessorCount;
  info.l2_bytes = properties.l2CacheSize;
  info.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  SWINSCOPE_CUDA(cudaDriverGetVersion(&info.driver_version));
  SWINSCOPE_CUDA(cudaRuntimeGetVersion(&info.runtime_version));
  return info;
}

std::string device_unique_id() {
  int device = 0;
  SWINSCOPE_CUDA(cudaGetDevice(&device));
  return unique_id(device);
}

std::vector<std::string> accessible_devices() {
  int device = 0;
  SWINSCOPE_CUDA(cudaGetDevice(&device));
  std::vector<std::string> ids;
  for (int other = 0; other < device_count(); ++other) {
    if (other == device) continue;
    int can_access = 0;
    SWINSCOPE_CUDA(cudaDeviceCanAccessPeer(&can_access, device, other));
    if (can_access != 0) ids.push_back(unique_id(other));
  }
  return ids;
}

bool early_launches_offered() {
  static const bool offered = device_count() > 0 && device_info().major >= 9;
  return offered;
}

std::int64_t free_memory() {
  std::size_t available = 0;
  std::size_t total = 0;
  SWINSCOPE_CUDA(cudaMemGetInfo(&available, &total));
  return static_cast<std::int64_t>(available);
}

void synchronize(Stream stream) { SWINSCOPE_CUDA(cudaStreamSynchronize(stream)); }

DeviceBuffer::DeviceBuffer(std::int64_t bytes) : bytes_(bytes) {
  if (bytes > 0) SWINSCOPE_CUDA(cudaMalloc(&data_, static_cast<std::size_t>(bytes)));
}

// Destructors cannot throw; a sticky error shows at the next checked call.
DeviceBuffer::~DeviceBuffer() { (void)cudaFree(data_); }

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void DeviceBuffer::poison(Stream stream) { cuda::poison(data_, bytes_, stream); }

void clear(void* data, std::int64_t bytes, Stream stream) {
  if (bytes > 0) SWINSCOPE_CUDA(cudaMemsetAsync(data, 0, static_cast<std::size_t>(bytes), stream));
}

void poison(void* data, std::int64_t bytes, Stream stream) {
  if (bytes > 0) SWINSCOPE_CUDA(cudaMemsetAsync(data, 0xff, static_cast<std::size_t>(bytes), stream));
}

PinnedBuffer::PinnedBuffer(std::int64_t bytes) : bytes_(bytes) {
  if (bytes > 0) SWINSCOPE_CUDA(cudaMallocHost(&data_, static_cast<std::size_t>(bytes)));
}

PinnedBuffer::~PinnedBuffer() { (void)cudaFreeHost(data_); }

PinnedBuffer::PinnedBuffer(PinnedBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

PinnedBuffer& PinnedBuffer::operator=(PinnedBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void copy_async_to_device(void* device, const void* host, std::int64_t bytes, Stream stream) {
  SWINSCOPE_CUDA(cudaMemcpyAsync(device, host, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, stream));
}

void copy_async_to_host(void* host, const void* device, std::int64_t bytes, Stream stream) {
  SWINSCOPE_CUDA(cudaMemcpyAsync(host, device, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost, stream));
}

void copy_on_device(void* to, const void* from, std::int64_t bytes, Stream stream) {
  SWINSCOPE_CUDA(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice, stream));
}

void copy_to_device(void* device, const void* host, std::int64_t bytes, Stream stream) {
  SWINSCOPE_CUDA(cudaMemcpyAsync(device, host, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, stream));
  synchronize(stream);
}

void copy_to_host(void* host, const void* device, std::int64_t bytes, Stream stream) {
  SWINSCOPE_CUDA(cudaMemcpyAsync(host, device, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost, stream));
  synchronize(stream);
}

OwnedStream::OwnedStream(bool urgent) {
  int least = 0;
  int greatest = 0;
  SWINSCOPE_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  SWINSCOPE_CUDA(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, urgent ? greatest : least));
}
OwnedStream::~OwnedStream() { (void)cudaStreamDestroy(stream_); }

Event::Event() { SWINSCOPE_CUDA(cudaEventCreate(&event_)); }
Event::~Event() { (void)cudaEventDestroy(event_); }
void Event::record(Stream stream) { SWINSCOPE_CUDA(cudaEventRecord(event_, stream)); }
void Event::record_in_graph(Stream stream) {
  SWINSCOPE_CUDA(cudaEventRecordWithFlags(event_, stream, cudaEventRecordExternal));
}

void Event::hold(Stream stream) const { SWINSCOPE_CUDA(cudaStreamWaitEvent(stream, event_, 0)); }
void Event::wait() const { SWINSCOPE_CUDA(cudaEventSynchronize(event_)); }
bool Event::happened() const {
  const cudaError_t status = cudaEventQuery(event_);
  if (status != cudaErrorNotReady) SWINSCOPE_CUDA(status);
  return status == cudaSuccess;
}

float Event::milliseconds(const Event& begin, const Event& end) {
  SWINSCOPE_CUDA(cudaEventSynchronize(end.event_));
  float milliseconds = 0.0F;
  SWINSCOPE_CUDA(cudaEventElapsedTime(&milliseconds, begin.event_, end.event_));
  return milliseconds;
}

Graph::~Graph() {
  if (executable_ != nullptr) (void)cudaGraphExecDestroy(executable_);
}

void Graph::begin_capture(Stream stream) {
  SWINSCOPE_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
}

void Graph::end_capture(Stream stream) {
  cudaGraph_t graph = nullptr;
  SWINSCOPE_CUDA(cudaStreamEndCapture(stream, &graph));
  const cudaError_t counted = cudaGraphGetNodes(graph, nullptr, &nodes_);
  // Kernels keep the urgency of the stream that they were captured on.
  const cudaError_t made = cudaGraphInstantiate(&executable_, graph, cudaGraphInstantiateFlagUseNodePriority);
  (void)cudaGraphDestroy(graph);
  SWINSCOPE_CUDA(counted);
  SWINSCOPE_CUDA(made);
}

void Graph::launch(Stream stream) const { SWINSCOPE_CUDA(cudaGraphLaunch(executable_, stream)); }

}  // namespace swinscope::cuda
