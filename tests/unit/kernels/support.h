// Support for tests of kernels: seeded random tensors, outputs poisoned with NaN, relative errors, and gradients by
// finite differences.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace swinscope::test {

inline std::size_t to_size(std::int64_t count) { return static_cast<std::size_t>(count); }

// Random tensors whose values are the same for every T up to rounding.
class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}

  template <typename T = double>
  std::vector<T> normal(std::int64_t count, double sigma = 1.0, double mean = 0.0) {
    std::normal_distribution<double> distribution(mean, sigma);
    return draw<T>(count, distribution);
  }

  template <typename T = double>
  std::vector<T> uniform(std::int64_t count, double low, double high) {
    std::uniform_real_distribution<double> distribution(low, high);
    return draw<T>(count, distribution);
  }

  std::vector<std::int32_t> labels(std::int64_t count, std::int32_t classes) {
    std::uniform_int_distribution<std::int32_t> distribution(0, classes - 1);
    std::vector<std::int32_t> values(to_size(count));
    for (std::int32_t& value : values)
      value = distribution(engine_);
    return values;
  }

 private:
  template <typename T, typename Distribution>
  std::vector<T> draw(std::int64_t count, Distribution& distribution) {
    std::vector<T> values(to_size(count));
    for (T& value : values)
      value = static_cast<T>(distribution(engine_));
    return values;
  }

  std::mt19937 engine_;
};

// An output that is to be overwritten: NaN everywhere, so that an element left out or read shows.
template <typename T = double>
std::vector<T> poisoned(std::int64_t count) {
  return std::vector<T>(to_size(count), std::numeric_limits<T>::quiet_NaN());
}

template <typename To, typename From>
std::vector<To> converted(const std::vector<From>& values) {
  return std::vector<To>(values.begin(), values.end());
}

template <typename A, typename B>
double dot(const std::vector<A>& a, const std::vector<B>& b) {
  EXPECT_EQ(a.size(), b.size());
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

// ||a - reference|| / ||reference||; NaN if anything is NaN.
template <typename A, typename B>
double relative_error(const std::vector<A>& a, const std::vector<B>& reference) {
  EXPECT_EQ(a.size(), reference.size());
  double difference = 0.0;
  double norm = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto r = static_cast<double>(reference[i]);
    difference += (static_cast<double>(a[i]) - r) * (static_cast<double>(a[i]) - r);
    norm += r * r;
  }
  return norm > 0.0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

template <typename T>
std::vector<T> minus(const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    result[i] = a[i] - b[i];
  return result;
}

// The gradient of loss() with respect to `variable` by the five-point central difference, whose error is of
// order step^4 and which the loss sees through changes of `variable` itself.
inline std::vector<double> numeric_gradient(std::vector<double>& variable, const std::function<double()>& loss,
                                            double step) {
  std::vector<double> gradient(variable.size());
  for (std::size_t i = 0; i < variable.size(); ++i) {
    const double value = variable[i];
    const auto at = [&](double offset) {
      variable[i] = value + offset;
      return loss();
    };
    gradient[i] = (8.0 * (at(step) - at(-step)) - (at(2.0 * step) - at(-2.0 * step))) / (12.0 * step);
    variable[i] = value;
  }
  return gradient;
}

inline constexpr double kGradientStep = 1e-3;
inline constexpr double kGradientTolerance = 1e-8;

// Every element of `analytic` against finite differences, relative to the gradient's largest element.
inline void expect_gradient(const std::string& name, std::vector<double>& variable, const std::function<double()>& loss,
                            const std::vector<double>& analytic, double step = kGradientStep,
                            double tolerance = kGradientTolerance) {
  const std::vector<double> numeric = numeric_gradient(variable, loss, step);
  ASSERT_EQ(numeric.size(), analytic.size()) << name;
  double largest = 0.0;
  for (const double g : numeric)
    largest = std::max(largest, std::abs(g));
  ASSERT_GT(largest, 1e-6) << name << ": a gradient of zero shows nothing";
  for (std::size_t i = 0; i < numeric.size(); ++i) {
    ASSERT_NEAR(analytic[i], numeric[i], tolerance * largest) << name << "[" << i << "]";
  }
}

}  // namespace swinscope::test
