// Moving values between element types on the device, and random ones for measurements.
#pragma once

#include <cstdint>

#include "kernels/device.h"

namespace swinscope::cuda {

// to[i] = from[i], rounded to nearest.
void convert(std::int64_t count, ElementType from_type, const void* from, ElementType to_type, void* to, Stream stream);

// Uniform in [-1, 1), from the index and the seed: measurements on zeros or constants flatter.
void fill_random(std::int64_t count, ElementType type, std::uint64_t seed, void* to, Stream stream);

// The same for values of one byte: bit 6 is clear, so that none is NaN as an fp8 (e4m3) number.
void fill_random_bytes(std::int64_t count, std::uint64_t seed, void* to, Stream stream);

// A kernel that does nothing, to measure what a launch costs.
void launch_nothing(Stream stream);

// A kernel of one thread that lasts so many cycles of its multiprocessor: it holds a stream while the host enqueues
// what is to be measured, and its time shows the clock.
void launch_cycles(std::int64_t cycles, Stream stream);

}  // namespace swinscope::cuda
