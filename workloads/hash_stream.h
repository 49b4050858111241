// Random numbers by counter, without state: the same name, seed and index give the same bits on every machine, in any
// order and on any thread.
//
//   key   = FNV-1a-64(name) XOR mix(seed),   mix = the finalizer of splitmix64 (Steele, Lea, Flood 2014)
//   bits(i) = mix(key + (i + 1) * 0x9E3779B97F4A7C15)
#pragma once

#include <cstdint>
#include <string_view>

namespace swinscope {

// 64 random bits for each (name, seed, index).
class HashStream {
 public:
  HashStream(std::string_view name, std::uint64_t seed);

  std::uint64_t bits(std::uint64_t index) const;
  // Uniform in [0, 1), a multiple of 2^-24.
  double unit(std::uint64_t index) const;
  // Standard normal (Box and Muller, from draws 2 * index and 2 * index + 1).
  double normal(std::uint64_t index) const;

 private:
  std::uint64_t key_;
};

}  // namespace swinscope
