// What runs are compared by: the time of a step, or what an image costs in time, GPU time, energy or money.
//
//   per step    time of a step
//   per image   time of a step / images per step
//   GPU time    time x GPUs
//   energy      time x what the GPUs draw (gpu_power.h): the mean of the run, so a kernel's share is that of its time
//   price       time x GPUs x what a GPU costs an hour, of a million
// The last three are per image where all runs say how many images a step takes, else per step.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace swinscope {

struct ComparedRun;

enum class Normalization : std::uint8_t { kStep, kImage, kGpu, kJoule, kPrice };
inline constexpr std::array kNormalizations = {Normalization::kStep, Normalization::kImage, Normalization::kGpu,
                                               Normalization::kJoule, Normalization::kPrice};
std::string_view normalization_name(Normalization by);  // "per image", "energy"

// How amounts are named and written.
struct Measure {
  std::string noun = "step";     // that it is of
  std::string per = "per step";  // of a title
  std::string unit;              // empty: ns, a duration; else of a million of the amounts
};
std::string amount_text(std::int64_t amount, const Measure& measure);

// Why the runs cannot be compared by it; empty where they can.
std::string why_not(std::span<const ComparedRun> runs, Normalization by);
// The rest is of runs that can.
Measure measure_of(std::span<const ComparedRun> runs, Normalization by);
// What a ns of the run's step counts.
double weight_of(const ComparedRun& run, std::span<const ComparedRun> runs, Normalization by);
// Whether both do the same in a step, so that their kernels are the same by shape, too.
bool is_same_work(const ComparedRun& a, const ComparedRun& b);

}  // namespace swinscope
