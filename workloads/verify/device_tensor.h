// Tensors for checks: random values, the same on the host in fp64 and on the device in some element type.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kernels/device.h"

namespace swinscope {

// Holds the values as the device has them, rounded.
struct DeviceTensor {
  ElementType type = ElementType::kFp32;
  cuda::DeviceBuffer buffer;
  std::vector<double> values;
  const void* data() const { return buffer.data(); }
  std::vector<float> floats() const { return {values.begin(), values.end()}; }
};

class TensorFactory {
 public:
  explicit TensorFactory(std::uint32_t seed) : engine_(seed) {}
  cuda::Stream stream() const { return stream_.get(); }

  DeviceTensor normal(std::int64_t count, ElementType type, double sigma = 1.0, double mean = 0.0);
  DeviceTensor uniform(std::int64_t count, ElementType type, double low, double high);
  DeviceTensor upload(const std::vector<double>& values, ElementType type);
  // All NaN.
  DeviceTensor output(std::int64_t count, ElementType type);
  // What stochastic depth makes of `count` samples, fp32: some 0, some 1 / 0.7.
  DeviceTensor scales(std::int64_t count);
  // Into a tensor that is there.
  void write(DeviceTensor& tensor, const std::vector<double>& values);
  // What the device has now.
  std::vector<double> download(const DeviceTensor& tensor);
  std::vector<unsigned char> bytes(const DeviceTensor& tensor);

 private:
  std::mt19937 engine_;
  cuda::OwnedStream stream_;
};

// Of a result behind which NaN stood, and must stand still: NaN where it does not.
double guarded_error(std::vector<double> result, const std::vector<double>& expected);

std::string type_name(ElementType type);
// The tolerance for each type.
double by_type(ElementType type, double fp32, double fp16, double bf16);

}  // namespace swinscope
