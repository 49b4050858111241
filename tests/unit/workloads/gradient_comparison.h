// Gradients of two trainings, beside each other.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include <gtest/gtest.h>

#include "workloads/parameters.h"
#include "workloads/redraw.h"

namespace swinscope::test {

// Redrawn, so that no parameter is at a value that would hide an error. Only V2's scales of cosines are where training
// begins: with the redrawn ones of up to 100, fp32 on the CPU alone is 2e-4 from fp64 in a scale's gradient and 8e-4 in
// the loss after two updates.
inline ParameterStore<float> redrawn(const SwinConfig& config, std::uint64_t seed) {
  ParameterStore<float> store(config, true);
  redraw_parameters(store, seed);
  for (const ParameterInfo& tensor : store.layout().tensors()) {
    if (tensor.name.ends_with("logit_scale")) std::ranges::fill(store.values(tensor), 2.3025851F);
  }
  return store;
}

// |a - b| / |b|
template <typename A, typename B>
double relative(const A& a, const B& b) {
  double difference = 0.0;
  double norm = 0.0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    norm += std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(difference / std::max(norm, 1e-30));
}

// All together, and each tensor by itself within ten times the tolerance: a wrong gradient of a small one would drown
// in all of them.
inline void expect_gradients(const SwinConfig& config, std::span<const float> found, std::span<const float> expected,
                             double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  EXPECT_LT(relative(found, expected), tolerance);
  double largest = 0.0;
  for (const float value : expected)
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  const ParameterLayout layout(config);
  for (const ParameterInfo& tensor : layout.tensors()) {
    const auto part = [&](std::span<const float> flat) {
      return flat.subspan(static_cast<std::size_t>(tensor.offset), static_cast<std::size_t>(tensor.count));
    };
    double norm = 0.0;
    for (const float value : part(expected))
      norm += std::pow(static_cast<double>(value), 2);
    // What cancels almost to nothing has no relative error.
    if (std::sqrt(norm / static_cast<double>(tensor.count)) < 1e-5 * largest) continue;
    EXPECT_LT(relative(part(found), part(expected)), 10.0 * tolerance) << tensor.name;
  }
}

}  // namespace swinscope::test
