// experiment.json (the first byte is 'e') and point.json: whatever the bytes behind it, they are refused as bad input,
// or they become an experiment of sane numbers that is written and read again as it is.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "analyzer/experiment/experiment.h"
#include "tests/fuzz/support.h"

namespace swinscope::fuzz {
namespace {

namespace fs = std::filesystem;

// That an experiment may name.
constexpr std::string_view kPoint = R"({"schema": "swinscope.point/1", "factors": {"gpus": "1"}, "step_ns": [1000]})";

void write_whole(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
}

std::string read_whole(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void check_point(const fs::path& folder) {
  const ExperimentPoint point = read_point(folder);
  expect(point.gpus() >= 1, "a number of GPUs is a positive one");
  for (const std::int64_t step_ns : point.given_step_ns)
    expect(step_ns > 0, "a step is a time");
  write_point(point);
  write_point(read_point(folder));  // without the runs that are gone
  const std::string once = read_whole(folder / "point.json");
  write_point(read_point(folder));
  expect(read_whole(folder / "point.json") == once, "what is written is read again");
}

void check_experiment(const fs::path& folder) {
  const Experiment experiment = read_experiment(folder);
  expect(experiment.points.size() + experiment.gone.size() <= 10'000, "there is an end of points");
  expect(experiment.warmup_steps >= 0 && experiment.images >= 0 && experiment.images_per_step >= 0,
         "numbers of steps and images are no debts");
  for (const ExperimentPoint& point : experiment.points)
    expect(point.gpus() >= 1, "a number of GPUs is a positive one");
}

}  // namespace
}  // namespace swinscope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace swinscope;
  if (size == 0) return 0;
  static const fuzz::MemoryFolder memory;
  const std::filesystem::path& folder = memory.path();
  const std::filesystem::path point = folder / "gpus1";
  std::filesystem::create_directories(point);
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const bool is_experiment = data[0] == 'e';
  fuzz::write_whole(point / "point.json", is_experiment ? fuzz::kPoint : text);
  fuzz::write_whole(folder / "experiment.json", text);
  try {
    is_experiment ? fuzz::check_experiment(folder) : fuzz::check_point(point);
  } catch (const Error& error) {
    fuzz::expect_input_error(error);
  }
  return 0;
}
