#include <algorithm>
#include <array>
#include <functional>

#include "kernels/convert.h"
#include "workloads/error.h"
#include "workloads/program/peaks_measure.h"
#include "workloads/program/step_times.h"

namespace swinscope {
namespace {

constexpr int kLaunchRounds = 7;
// More would wait for room in the queue of a stream, which takes 1024.
constexpr int kQueuedKernels = 400;
constexpr int kGraphKernels = 1000;

double host_time(const std::function<void()>& work, int repeats) {
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    const std::int64_t start_ns = now_ns();
    work();
    times.push_back(1e-3 * static_cast<double>(now_ns() - start_ns));
  }
  return median(times);
}

void capture_nothing(cuda::Graph& graph, int kernels, cuda::Stream stream) {
  graph.begin_capture(stream);
  for (int i = 0; i < kernels; ++i)
    cuda::launch_nothing(stream);
  graph.end_capture(stream);
}

// Microseconds of the host for a launch of an empty kernel.
double measure_enqueue(cuda::Stream stream) {
  constexpr int kMany = 1000;
  std::vector<double> enqueue;
  for (int round = 0; round < kLaunchRounds; ++round) {
    const std::int64_t start_ns = now_ns();
    for (int i = 0; i < kMany; ++i)
      cuda::launch_nothing(stream);
    enqueue.push_back(1e-3 * static_cast<double>(now_ns() - start_ns) / kMany);
    cuda::synchronize(stream);
  }
  return median(enqueue);
}

// Nanoseconds between two events with `work` between them, which the device finds complete in its queue: a kernel
// before them holds the stream meanwhile. A host that took longer than that is given more time.
double queued_ns(cuda::Stream stream, int rounds, const std::function<void()>& work) {
  constexpr std::int64_t kMostCycles = std::int64_t{1} << 29;  // about a quarter of a second
  cuda::Event begin;
  cuda::Event end;
  std::vector<double> times;
  std::int64_t cycles = std::int64_t{1} << 18;
  while (static_cast<int>(times.size()) < rounds) {
    cuda::launch_cycles(cycles, stream);
    begin.record(stream);
    work();
    end.record(stream);
    const bool was_held = !begin.happened();
    const double time = 1e6 * static_cast<double>(cuda::Event::milliseconds(begin, end));
    if (was_held) {
      times.push_back(time);
    } else if (cycles < kMostCycles) {
      cycles *= 2;
    } else {
      throw WorkloadError(WorkloadErrorKind::kFailure, "swin peaks: launches cannot be measured",
                          "the host does not enqueue them in a quarter of a second",
                          "try again when the machine is quiet");
    }
  }
  return median(times);
}

// Nanoseconds of the host for launching a graph on an idle stream.
double graph_enqueue_ns(cuda::Stream stream, const cuda::Graph& graph) {
  constexpr int kLaunches = 51;
  graph.launch(stream);  // the first one also brings it to the device
  cuda::synchronize(stream);
  std::vector<double> times;
  for (int i = 0; i < kLaunches; ++i) {
    const std::int64_t start_ns = now_ns();
    graph.launch(stream);
    times.push_back(static_cast<double>(now_ns() - start_ns));
    cuda::synchronize(stream);
  }
  return median(times);
}

}  // namespace

double graph_period_ns(cuda::Stream stream, const cuda::Graph& graph) {
  constexpr std::size_t kPeriods = 5;
  std::array<cuda::Event, kPeriods + 1> events;
  graph.launch(stream);  // keeps the device busy while the others are enqueued
  for (std::size_t i = 0; i <= kPeriods; ++i) {
    if (i > 0) graph.launch(stream);
    events[i].record(stream);
  }
  std::vector<double> times;
  for (std::size_t i = 0; i < kPeriods; ++i)
    times.push_back(1e6 * static_cast<double>(cuda::Event::milliseconds(events[i], events[i + 1])));
  return median(times);
}

LaunchCost measure_launches() {
  constexpr int kRepeats = 200;
  const cuda::OwnedStream stream;
  LaunchCost cost;
  cuda::launch_nothing(stream.get());
  cuda::synchronize(stream.get());
  cost.enqueue_us = measure_enqueue(stream.get());
  cost.round_trip_us = host_time(
      [&] {
        cuda::launch_nothing(stream.get());
        cuda::synchronize(stream.get());
      },
      kRepeats);
  cuda::Graph one;
  cuda::Graph many;
  capture_nothing(one, 1, stream.get());
  capture_nothing(many, kGraphKernels, stream.get());
  cost.graph_round_trip_us = host_time(
      [&] {
        one.launch(stream.get());
        cuda::synchronize(stream.get());
      },
      kRepeats);
  const double one_us = device_time(stream.get(), [&] { one.launch(stream.get()); });
  const double many_us = device_time(stream.get(), [&] { many.launch(stream.get()); });
  cost.graph_node_us = (many_us - one_us) / (kGraphKernels - 1);
  return cost;
}

LaunchGaps measure_gaps() {
  constexpr int kPairs = 101;
  const cuda::OwnedStream stream;
  const auto launch = [&](int kernels) {
    for (int i = 0; i < kernels; ++i)
      cuda::launch_nothing(stream.get());
  };
  launch(1);
  cuda::synchronize(stream.get());
  LaunchGaps gaps;
  const double nothing = queued_ns(stream.get(), kPairs, [] {});
  const double one = queued_ns(stream.get(), kPairs, [&] { launch(1); });
  const double many = queued_ns(stream.get(), kLaunchRounds, [&] { launch(kQueuedKernels); });
  gaps.empty_kernel_ns = std::max(0.0, one - nothing);
  // n kernels have n - 1 gaps between them; the ends of the queue go with the first kernel.
  gaps.kernel_gap_ns = std::max(0.0, (many - one) / (kQueuedKernels - 1) - gaps.empty_kernel_ns);
  gaps.launch_ns = 1e3 * measure_enqueue(stream.get());

  // Two sizes, so that what a graph takes as a whole drops out.
  constexpr std::array kSizes = {kGraphKernels / 2, kGraphKernels};
  std::array<double, 2> device{};
  double host_many = 0.0;
  for (std::size_t i = 0; i < kSizes.size(); ++i) {
    cuda::Graph graph;
    capture_nothing(graph, kSizes[i], stream.get());
    device[i] = graph_period_ns(stream.get(), graph);
    if (kSizes[i] == kGraphKernels) host_many = graph_enqueue_ns(stream.get(), graph);
  }
  constexpr double kMore = kGraphKernels - kGraphKernels / 2;
  gaps.graph_gap_ns = std::max(0.0, (device[1] - device[0]) / kMore - gaps.empty_kernel_ns);
  cuda::Graph one_node;
  capture_nothing(one_node, 1, stream.get());
  const double base = graph_enqueue_ns(stream.get(), one_node);
  gaps.graph_launch_node_ns = std::max(0.0, (host_many - base) / (kGraphKernels - 1));
  gaps.graph_launch_base_ns = std::max(0.0, base - gaps.graph_launch_node_ns);
  return gaps;
}

}  // namespace swinscope
