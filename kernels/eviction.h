// Which of a kernel's tensors should stay in the L2 cache for the next kernel, decided by their size on the host.
// eviction.cuh has the instructions.
#pragma once

#include <cstdint>

namespace swinscope::cuda {

// Which lines of the L2 cache go first when it is full (PTX ISA, createpolicy): with kFirst those of what is read for
// the last time, with kLast those of what the next kernel reads. Either way the same bits.
enum class Eviction : std::uint8_t { kNormal, kFirst, kLast };

// Of what a kernel writes for the next one alone, to memory that later kernels write again: kLast where it fits beside
// what passes by, 60 % of the cache.
constexpr Eviction eviction_of_result(std::int64_t bytes, std::int64_t cache_bytes) {
  return 10 * bytes <= 6 * cache_bytes ? Eviction::kLast : Eviction::kNormal;
}

// Of what is read now, and again as a residual after about four times as much has passed by: kFirst where that fills
// the cache.
constexpr Eviction eviction_before_residual(std::int64_t bytes, std::int64_t cache_bytes) {
  return 4 * bytes > cache_bytes ? Eviction::kFirst : Eviction::kNormal;
}

}  // namespace swinscope::cuda
