// Ranks whose devices lie in host memory (host_device.h): what their GPUs would sum up, the processes sum up over their
// own connection.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "tests/unit/workloads/host_device_memory.h"
#include "workloads/communicator.h"
#include "workloads/device_communicator.h"

namespace swinscope::test {

class HostRanks : public DeviceCommunicator {
 public:
  explicit HostRanks(Communicator& processes) : processes_(processes) {}

  int rank() const override { return processes_.rank(); }
  int size() const override { return processes_.size(); }

  void all_reduce_sum(void* values, std::int64_t count, ReduceType type, cuda::Stream stream) override {
    launch(stream, [=, this] { sum(values, count, type); });
  }
  void broadcast(void* data, std::int64_t bytes, int root, cuda::Stream stream) override {
    launch(stream, [=, this] {
      processes_.broadcast({static_cast<std::byte*>(data), static_cast<std::size_t>(bytes)}, root);
    });
  }
  std::shared_ptr<void> allocate(std::int64_t bytes) override {
    const auto own = std::make_shared<cuda::DeviceBuffer>(bytes);
    return {own, own->data()};
  }
  void all_to_all(const void* parts, void* received, std::int64_t count, ReduceType type,
                  cuda::Stream stream) override {
    const auto bytes = static_cast<std::size_t>(count * reduce_bytes(type));
    launch(stream, [=, this] {
      std::vector<std::byte> sent(bytes * static_cast<std::size_t>(size()));
      for (int root = 0; root < size(); ++root) {
        std::memcpy(sent.data(), parts, sent.size());
        processes_.broadcast(sent, root);
        std::memcpy(place(received, root, bytes), place(sent.data(), rank(), bytes), bytes);
      }
    });
  }
  void all_gather(void* parts, std::int64_t count, ReduceType type, cuda::Stream stream) override {
    const auto bytes = static_cast<std::size_t>(count * reduce_bytes(type));
    launch(stream, [=, this] {
      for (int root = 0; root < size(); ++root)
        processes_.broadcast({place(parts, root, bytes), bytes}, root);
    });
  }
  void require_all() override {}

 private:
  static std::byte* place(void* parts, int rank, std::size_t bytes) {
    return static_cast<std::byte*>(parts) + static_cast<std::size_t>(rank) * bytes;
  }
  void sum(void* values, std::int64_t count, ReduceType type) {
    const auto length = static_cast<std::size_t>(count);
    if (type == ReduceType::kFp64) return processes_.all_reduce_sum({static_cast<double*>(values), length});
    if (type == ReduceType::kFp32) return processes_.all_reduce_sum({static_cast<float*>(values), length});
    if (type == ReduceType::kInt64) {
      auto* const whole = static_cast<std::int64_t*>(values);
      std::vector<double> numbers(whole, whole + count);
      processes_.all_reduce_sum(std::span<double>(numbers));
      for (std::size_t i = 0; i < length; ++i)
        whole[i] = static_cast<std::int64_t>(numbers[i]);
      return;
    }
    const ElementType element = type == ReduceType::kFp16 ? ElementType::kFp16 : ElementType::kBf16;
    std::vector<float> numbers = load(element, values, count);
    processes_.all_reduce_sum(std::span<float>(numbers));
    store(element, numbers, values);
  }

  Communicator& processes_;
};

}  // namespace swinscope::test
