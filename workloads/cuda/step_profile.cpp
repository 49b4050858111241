#include "workloads/cuda/step_profile.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>

#include "workloads/cuda/step_launcher.h"

namespace swinscope {
namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

std::string without_block(const std::string& path) {
  const std::size_t begin = path.find(".block");
  if (begin == std::string::npos) return path;
  const std::size_t end = path.find('.', begin + 1);
  return path.substr(0, begin) + (end == std::string::npos ? "" : path.substr(end));
}

std::vector<OperationTime> profile_steps(std::span<const DeviceStep> steps, cuda::Stream stream, std::int64_t passes) {
  std::vector<std::unique_ptr<cuda::Event>> events;
  for (std::size_t i = 0; i <= steps.size(); ++i)
    events.push_back(std::make_unique<cuda::Event>());
  cuda::Graph graph;
  graph.begin_capture(stream);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    events[i]->record_in_graph(stream);
    steps[i].run(stream);
  }
  events.back()->record_in_graph(stream);
  graph.end_capture(stream);
  std::vector<std::vector<double>> times(steps.size());
  for (std::int64_t pass = 0; pass < passes; ++pass) {
    graph.launch(stream);
    cuda::synchronize(stream);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      times[i].push_back(1e6 * static_cast<double>(cuda::Event::milliseconds(*events[i], *events[i + 1])));
    }
  }
  std::map<std::string, OperationTime> sums;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::string name = without_block(steps[i].name.path());
    OperationTime& sum = sums[name];
    sum.name = name;
    ++sum.calls;
    sum.time_ns += std::max(1.0, median(times[i]));
    sum.flops += static_cast<std::int64_t>(steps[i].payload.flops);
    sum.bytes += static_cast<std::int64_t>(steps[i].payload.bytes_read + steps[i].payload.bytes_written);
  }
  std::vector<OperationTime> rows;
  rows.reserve(sums.size());
  for (auto& [name, row] : sums)
    rows.push_back(std::move(row));
  std::ranges::sort(rows, [](const OperationTime& a, const OperationTime& b) { return a.time_ns > b.time_ns; });
  return rows;
}

double time_as_graph(std::span<const DeviceStep> steps, cuda::Stream stream) {
  constexpr int kRounds = 3;
  constexpr double kRoundMilliseconds = 6.0;
  cuda::Graph graph;
  graph.begin_capture(stream);
  run_unannotated(steps, stream);
  graph.end_capture(stream);
  cuda::Event begun;
  cuda::Event ended;
  const auto round = [&](int passes) {
    begun.record(stream);
    for (int i = 0; i < passes; ++i)
      graph.launch(stream);
    ended.record(stream);
    return static_cast<double>(cuda::Event::milliseconds(begun, ended)) / passes;
  };
  const int passes = std::max(2, static_cast<int>(kRoundMilliseconds / std::max(round(1), 1e-3)));
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRounds; ++i)
    best = std::min(best, round(passes));
  return best;
}

}  // namespace swinscope
