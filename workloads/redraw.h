// Tensors redrawn from their names by a counter-based generator, without state: the same seed gives the same bits on
// every machine and in tests/peers/timm/export_fixtures.py, so that a model with random weights can be compared across
// programs without shipping the weights. The distributions keep activations at order 1 and leave no parameter at a
// value (0 or 1) that would hide an error. That script states the same rule.
//
//   key   = FNV-1a-64(name) XOR mix(seed),   mix = the finalizer of splitmix64 (Steele, Lea, Flood 2014)
//   u(i)  = (mix(key + (i + 1) * 0x9E3779B97F4A7C15) >> 40) * 2^-24
//   value = float(scale * (u + shift))
//
// u + shift is exact, so that one product in double is the only rounding before the conversion to float.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "workloads/hash_stream.h"
#include "workloads/parameters.h"

namespace swinscope {

struct RedrawRule {
  double shift = 0.0;
  double scale = 1.0;
};

// Norm weights (all weights of one extent) U(0.5, 1.5); biases of standard deviation 0.2; position tables, the first
// layer of V2's position networks and "input.image" of standard deviation 1; logit_scale U(0, ln 200), so that one in
// eight lies above its clamp at ln 100; all other weights of standard deviation 1 / sqrt(fan in), where fan in is the
// product of all extents but the first.
RedrawRule redraw_rule(std::string_view name, std::span<const std::int64_t> shape);

// Fills `values` with the tensor's first values.size() elements. T is float or double; doubles hold the float's value.
template <typename T>
void redraw_tensor(std::string_view name, std::span<const std::int64_t> shape, std::uint64_t seed, std::span<T> values);

// Redraws every parameter of the store.
template <typename T>
void redraw_parameters(ParameterStore<T>& store, std::uint64_t seed);

// Sum over the elements of (bits of the float + 1) * (2 i + 1) modulo 2^64: tells a generator that differs from a model
// that differs. Doubles are narrowed to float first.
template <typename T>
std::uint64_t redraw_checksum(std::span<const T> values);

}  // namespace swinscope
