#include "workloads/cuda/device_weights.h"

#include <algorithm>

#include "kernels/convert.h"

namespace swinscope {

DeviceWeights::DeviceWeights(const ParameterStore<float>& store, ElementType type, cuda::Stream stream)
    : store_(&store), type_(type), stream_(stream), values_(store.layout().flat_count() * element_bytes(type)) {
  const std::int64_t count = store.layout().flat_count();
  const cuda::DeviceBuffer floats(count * element_bytes(ElementType::kFp32));
  cuda::copy_to_device(floats.data(), store.values().data(), floats.bytes(), stream);
  cuda::convert(count, ElementType::kFp32, floats.data(), type, values_.data(), stream);
  cuda::synchronize(stream);
}

const void* DeviceWeights::find(const std::string& name) const {
  return static_cast<const char*>(values_.data()) + store_->layout().find(name).offset * element_bytes(type_);
}

// The L2 cache of an H200 has 50 MB. What is needed first stands at the end.
DeviceWeights::Range DeviceWeights::ahead(const std::string& first, const std::string& last) const {
  const ParameterInfo& a = store_->layout().find(first);  // the layout places them from the last to the first
  const ParameterInfo& b = store_->layout().find(last);
  const std::int64_t begin = std::min(a.offset, b.offset);
  const std::int64_t end = std::max(a.offset + a.count, b.offset + b.count);
  constexpr std::int64_t kMostBytes = std::int64_t{24} << 20;
  const std::int64_t bytes = (end - begin) * element_bytes(type_);
  if (bytes % 16 != 0) return {};
  const std::int64_t left_out = std::max<std::int64_t>(0, bytes - kMostBytes);
  return {static_cast<const char*>(values_.data()) + begin * element_bytes(type_) + left_out, bytes - left_out};
}

const float* DeviceWeights::find_floats(const std::string& name) {
  const ParameterInfo& tensor = store_->layout().find(name);
  void* const memory = reserve(tensor.count * element_bytes(ElementType::kFp32));
  cuda::copy_to_device(memory, store_->values().data() + tensor.offset, tensor.count * 4, stream_);
  return static_cast<const float*>(memory);
}

const float* DeviceWeights::find_buffer(const std::string& name) {
  const ParameterInfo& tensor = store_->layout().find_buffer(name);
  void* const memory = reserve(tensor.count * element_bytes(ElementType::kFp32));
  cuda::copy_to_device(memory, store_->buffers().data() + tensor.offset, tensor.count * 4, stream_);
  return static_cast<const float*>(memory);
}

std::int64_t DeviceWeights::bytes() const {
  std::int64_t bytes = values_.bytes();
  for (const cuda::DeviceBuffer& buffer : extra_)
    bytes += buffer.bytes();
  return bytes;
}

void* DeviceWeights::reserve(std::int64_t bytes) { return extra_.emplace_back(bytes).data(); }

}  // namespace swinscope
