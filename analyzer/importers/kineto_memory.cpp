#include "analyzer/importers/kineto_memory.h"

#include <limits>

namespace swinscope {
namespace {

constexpr std::int32_t kAllocated = 1;
constexpr std::int32_t kReserved = 2;

}  // namespace

bool KinetoMemory::add(const KinetoEvent& event, std::int64_t time_ns, RecordSink& sink) {
  const std::int64_t device = event.memory_device.value_or(-1);
  const bool is_of_device =
      device >= 0 && device <= std::numeric_limits<std::uint8_t>::max() && event.device_type.value_or(1) != 0;
  if (!event.total_allocated || !is_of_device) return false;
  const auto gpu = static_cast<std::uint8_t>(device);
  if (named_.insert(gpu).second) {
    sink.add(MetricNameRecord{MetricSource::kAllocator, gpu, kAllocated, "PyTorch allocated [bytes]"});
    sink.add(MetricNameRecord{MetricSource::kAllocator, gpu, kReserved, "PyTorch reserved [bytes]"});
  }
  sink.add(MetricRecord{time_ns, MetricSource::kAllocator, gpu, kAllocated, *event.total_allocated});
  if (event.total_reserved)
    sink.add(MetricRecord{time_ns, MetricSource::kAllocator, gpu, kReserved, *event.total_reserved});
  return true;
}

}  // namespace swinscope
