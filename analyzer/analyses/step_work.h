// What the steps of a run did, small enough to be kept when its trace is closed and complete enough to be taken apart
// against another run's (experiment/work_difference.h): the time of every kernel, copy and set by the layer that
// launched it, and of what is no work.
//
// Times are exclusive (exclusive_time.h): of all rows of a class they sum to what time_breakdown.h has of it, and with
// the idle causes to the devices' windows. They are of all steps of all devices together: divided by `device_steps`
// they are per step, the mean over devices.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/analyses/run_facts.h"
#include "analyzer/analyses/work_calls.h"

namespace swinscope {

// A sum over calls, and over the steps of each device.
struct WorkTime {
  std::int64_t calls = 0;
  std::int64_t exclusive_ns = 0;
  double mean_ns() const { return calls == 0 ? 0.0 : static_cast<double>(exclusive_ns) / static_cast<double>(calls); }
};

struct WorkRow {
  WorkKey key;
  std::string short_name;
  GpuClass gpu_class = GpuClass::kCompute;
  OperationKind operation = OperationKind::kUnknown;
  WorkTime all;
  WorkTime beside;         // of them those calls during which the device communicated
  double squared_ns2 = 0;  // sum over device steps of the square of the step's exclusive time
};

// Time that is no kernel, copy or set of the run's own.
enum class NoWork : std::uint8_t {
  kWire,           // exposed communication after the last rank came
  kWait,           // exposed communication before that, and idle that waits for a collective
  kCommunication,  // both, where they cannot be told apart
  kHost,           // idle: the launch came late, or the host was blocked in a call
  kInput,          // idle: waiting for data
  kGaps,           // idle between events that were launched in time
  kUnexplained,    // idle whose launch was not recorded
};
inline constexpr std::size_t kNoWorks = 7;

// Of one device, of all its steps.
struct DeviceTimes {
  std::int64_t useful_ns = 0;  // kernels that compute or are of unknown kind
  std::int64_t active_ns = 0;  // and exposed communication
  std::int64_t window_ns = 0;
  std::int64_t steps = 0;
};

struct StepWork {
  bool is_of_steps = false;             // else one "step" is the whole trace of a device
  std::int64_t device_steps = 0;        // steps times devices; 0: no device did anything
  std::int64_t window_ns = 0;           // of all devices
  std::int64_t step_ns = 0;             // of the slowest rank, as RunScope::step_ns(); without steps the mean window
  std::vector<std::int64_t> single_ns;  // measured steps, of hosts or of devices: for how much steps differ
  std::vector<WorkRow> rows;            // compute, unknown and memory; by key
  std::array<std::int64_t, kNoWorks> no_work_ns{};
  std::vector<DeviceTimes> devices;
  bool has_layers = false;  // any row has a path
  double per_step(std::int64_t total_ns) const {
    return device_steps == 0 ? 0.0 : static_cast<double>(total_ns) / static_cast<double>(device_steps);
  }
};

StepWork step_work(const RunFacts& run);

}  // namespace swinscope
