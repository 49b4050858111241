#include "workloads/data/sample_order.h"

#include <stdexcept>

#include "workloads/hash_stream.h"

namespace swinscope {
namespace {

constexpr std::uint64_t kRounds = 4;

}  // namespace

SampleOrder::SampleOrder(std::int64_t size, bool shuffled, std::uint64_t seed)
    : size_(size), shuffled_(shuffled), seed_(seed) {
  if (size < 1) throw std::invalid_argument("SampleOrder: there must be a file");
  while ((std::int64_t{1} << (2 * half_bits_)) < size)
    ++half_bits_;
}

std::int64_t SampleOrder::file(std::int64_t epoch, std::int64_t position) const {
  if (!shuffled_) return position;
  auto value = static_cast<std::uint64_t>(position);
  do {
    value = permute(epoch, value);
  } while (value >= static_cast<std::uint64_t>(size_));
  return static_cast<std::int64_t>(value);
}

std::uint64_t SampleOrder::permute(std::int64_t epoch, std::uint64_t value) const {
  const HashStream stream("data.order", seed_ + 0x9E3779B97F4A7C15U * static_cast<std::uint64_t>(epoch));
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = value >> half_bits_;
  std::uint64_t right = value & mask;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    const std::uint64_t next = left ^ (stream.bits(round << 32 | right) & mask);
    left = right;
    right = next;
  }
  return left << half_bits_ | right;
}

}  // namespace swinscope
