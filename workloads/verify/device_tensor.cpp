#include "workloads/verify/device_tensor.h"

#include <algorithm>
#include <cmath>

#include "kernels/convert.h"
#include "workloads/verify/verify.h"

namespace swinscope {

void TensorFactory::write(DeviceTensor& tensor, const std::vector<double>& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  const std::vector<float> floats(values.begin(), values.end());
  const cuda::DeviceBuffer staging(count * element_bytes(ElementType::kFp32));
  cuda::copy_to_device(staging.data(), floats.data(), staging.bytes(), stream());
  cuda::convert(count, ElementType::kFp32, staging.data(), tensor.type, tensor.buffer.data(), stream());
  cuda::synchronize(stream());
}

DeviceTensor TensorFactory::upload(const std::vector<double>& values, ElementType type) {
  const auto count = static_cast<std::int64_t>(values.size());
  DeviceTensor tensor{type, cuda::DeviceBuffer(count * element_bytes(type)), {}};
  write(tensor, values);
  tensor.values = download(tensor);
  return tensor;
}

DeviceTensor TensorFactory::scales(std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = i % 3 == 1 ? 0.0 : 1.0 / 0.7;
  return upload(values, ElementType::kFp32);
}

std::vector<unsigned char> TensorFactory::bytes(const DeviceTensor& tensor) {
  std::vector<unsigned char> result(static_cast<std::size_t>(tensor.buffer.bytes()));
  cuda::copy_to_host(result.data(), tensor.data(), tensor.buffer.bytes(), stream());
  return result;
}

DeviceTensor TensorFactory::normal(std::int64_t count, ElementType type, double sigma, double mean) {
  std::normal_distribution<double> distribution(mean, sigma);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values)
    value = distribution(engine_);
  return upload(values, type);
}

DeviceTensor TensorFactory::uniform(std::int64_t count, ElementType type, double low, double high) {
  std::uniform_real_distribution<double> distribution(low, high);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values)
    value = distribution(engine_);
  return upload(values, type);
}

DeviceTensor TensorFactory::output(std::int64_t count, ElementType type) {
  DeviceTensor tensor{type, cuda::DeviceBuffer(count * element_bytes(type)), {}};
  tensor.buffer.poison(stream());
  return tensor;
}

std::vector<double> TensorFactory::download(const DeviceTensor& tensor) {
  const std::int64_t count = tensor.buffer.bytes() / element_bytes(tensor.type);
  const cuda::DeviceBuffer staging(count * element_bytes(ElementType::kFp32));
  cuda::convert(count, tensor.type, tensor.data(), ElementType::kFp32, staging.data(), stream());
  std::vector<float> floats(static_cast<std::size_t>(count));
  cuda::copy_to_host(floats.data(), staging.data(), staging.bytes(), stream());
  return {floats.begin(), floats.end()};
}

double guarded_error(std::vector<double> result, const std::vector<double>& expected) {
  const auto end = result.begin() + static_cast<std::ptrdiff_t>(expected.size());
  if (!std::all_of(end, result.end(), [](double value) { return std::isnan(value); })) return std::nan("");
  result.erase(end, result.end());
  return relative_error(result, expected);
}

std::string type_name(ElementType type) {
  if (type == ElementType::kFp16) return "fp16";
  return type == ElementType::kBf16 ? "bf16" : "fp32";
}

double by_type(ElementType type, double fp32, double fp16, double bf16) {
  if (type == ElementType::kFp16) return fp16;
  return type == ElementType::kBf16 ? bf16 : fp32;
}

}  // namespace swinscope
