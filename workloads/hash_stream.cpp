#include "workloads/hash_stream.h"

#include <cmath>
#include <numbers>

namespace swinscope {
namespace {

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15U;

constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

constexpr std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char letter : text)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3U;
  return hash;
}

}  // namespace

HashStream::HashStream(std::string_view name, std::uint64_t seed) : key_(fnv1a(name) ^ mix(seed)) {}

std::uint64_t HashStream::bits(std::uint64_t index) const { return mix(key_ + (index + 1) * kGolden); }

double HashStream::unit(std::uint64_t index) const {
  return static_cast<double>(bits(index) >> 40) * (1.0 / 16777216.0);
}

double HashStream::normal(std::uint64_t index) const {
  // 1 - u lies in (0, 1], where the logarithm is finite.
  const double radius = std::sqrt(-2.0 * std::log(1.0 - unit(2 * index)));
  return radius * std::cos(2.0 * std::numbers::pi * unit(2 * index + 1));
}

}  // namespace swinscope
