// The parameters of a forward pass on the device, and what is computed from them once.
#pragma once

#include <cstdint>
#include <list>
#include <string>

#include "kernels/device.h"
#include "workloads/parameters.h"

namespace swinscope {

// A model's parameters in its element type, at the places that ParameterLayout gives them. The store must outlive them.
class DeviceWeights {
 public:
  DeviceWeights(const ParameterStore<float>& store, ElementType type, cuda::Stream stream);
  const void* find(const std::string& name) const;
  struct Range {
    const void* begin = nullptr;
    std::int64_t bytes = 0;
  };
  // Of those two and all between them, as much as is worth fetching before it is read; what is needed first.
  Range ahead(const std::string& first, const std::string& last) const;
  // The same parameter in fp32, in memory of its own: position tables are used at full precision.
  const float* find_floats(const std::string& name);
  // Running statistics, in fp32.
  const float* find_buffer(const std::string& name);
  // Memory that lives as long as the weights, for what is computed from them.
  void* reserve(std::int64_t bytes);
  std::int64_t bytes() const;  // so far

 private:
  const ParameterStore<float>* store_;
  ElementType type_;
  cuda::Stream stream_;
  cuda::DeviceBuffer values_;
  std::list<cuda::DeviceBuffer> extra_;
};

}  // namespace swinscope
