#include "gui/core/bench_frames.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <malloc.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "analyzer/timeline/timeline_open.h"
#include "gui/core/area_statistics.h"
#include "gui/core/bench_trace.h"
#include "gui/core/raster.h"
#include "gui/core/search.h"
#include "store/error.h"
#include "store/writer.h"

namespace swinscope::gui {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
namespace {

constexpr int kBandHeight = 20;
constexpr int kThreads = 2;

class Stopwatch {
 public:
  double ms() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin_).count();
  }
  // CPU time of all threads: on a machine that does other work, too, the better measure.
  double cpu_ms() const { return 1e3 * static_cast<double>(std::clock() - cpu_begin_) / CLOCKS_PER_SEC; }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::clock_t cpu_begin_ = std::clock();
};

// The value below which the fraction `q` of them lies.
double quantile(std::vector<double> values, double q) {
  std::ranges::sort(values);
  const auto index = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
  return values[std::clamp<std::size_t>(index, 1, values.size()) - 1];
}

double rounded(double value) { return std::round(value * 100) / 100; }

std::int64_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  in >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

// Removed with what is in it.
class Folder {
 public:
  explicit Folder(const fs::path& parent) {
    std::string pattern = ((parent.empty() ? fs::temp_directory_path() : parent) / "swinscope-bench-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw Error(ErrorKind::kFailure, fmt::format("{}: cannot be made", pattern), {}, "set TMPDIR to another folder");
    }
    path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  Folder(Folder&&) = delete;
  Folder& operator=(Folder&&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// A picture of the size of a screen, full of lanes; where there are too few, they come again.
struct Screen {
  Screen(const Timeline& timeline, int screen_width, int screen_height)
      : width(screen_width),
        height(screen_height),
        pixels(static_cast<std::size_t>(screen_width) * static_cast<std::size_t>(screen_height)) {
    for (int top = 0; top < height; top += kBandHeight) {
      const auto lane = static_cast<LaneId>(bands.size() % timeline.lanes.size());
      bands.push_back({lane, top, kBandHeight - 1});
    }
  }

  void paint(const Timeline& timeline, const Viewport& view, const std::vector<Color>& colors) {
    rasterise(timeline, view, bands, {0xffffffff, colors}, {pixels.data(), width, height, width}, kThreads);
  }

  int width;
  int height;
  std::vector<Color> pixels;
  std::vector<LaneBand> bands;
};

// A file a rank.
std::vector<fs::path> generate(const fs::path& folder, const BenchOptions& options) {
  std::vector<fs::path> files;
  for (int rank = 0; rank < options.ranks; ++rank) {
    files.push_back(folder / fmt::format("rank{}.db", rank));
    TraceWriter writer(files.back(), WriteMode::kImport);
    write_bench_trace(writer, options.events / static_cast<std::uint64_t>(options.ranks), rank, options.ranks);
    writer.finish();
  }
  return files;
}

double megabytes(const std::vector<fs::path>& files) {
  std::uintmax_t bytes = 0;
  for (const fs::path& file : files)
    bytes += fs::file_size(file);
  return rounded(static_cast<double>(bytes) / 1e6);
}

Json measure_foreign(const fs::path& run) {
  LoadControl control;
  control.rebuild = true;
  control.cache_folder.clear();
  control.threads = kThreads;
  const Stopwatch watch;
  const auto timeline = open_timeline(run, control);
  return {{"load_ms", rounded(watch.ms())}, {"load_cpu_ms", rounded(watch.cpu_ms())}};
}

// Loads the run as the window does: the first picture as soon as there is something to draw.
std::shared_ptr<const Timeline> measure_own(const fs::path& run, int rounds, Json& json) {
  std::vector<double> first_paints;
  std::vector<double> loads;
  std::vector<double> loads_cpu;
  std::shared_ptr<const Timeline> timeline;
  std::int64_t before = 0;
  for (int round = 0; round < rounds; ++round) {
    timeline.reset();
    malloc_trim(0);
    before = resident_bytes();
    LoadControl control;
    control.cache_folder.clear();
    control.threads = kThreads;
    const Stopwatch watch;
    control.on_preview = [&](const std::shared_ptr<const Timeline>& preview) {
      const std::vector<Color> colors = name_colors(preview->names);
      Screen(*preview, 1920, 1080).paint(*preview, fit(preview->span(), 1920), colors);
      first_paints.push_back(watch.ms());
    };
    timeline = open_timeline(run, control);
    loads.push_back(watch.ms());
    loads_cpu.push_back(watch.cpu_ms());
  }
  malloc_trim(0);
  const std::int64_t resident = resident_bytes() - before;
  if (first_paints.empty()) throw Error(ErrorKind::kFailure, "the run has no preview");
  json["first_paint_ms"] = rounded(quantile(first_paints, 0.5));
  json["load_ms"] = rounded(quantile(loads, 0.5));
  json["load_cpu_ms"] = rounded(quantile(loads_cpu, 0.5));
  json["resident_mb"] = rounded(static_cast<double>(resident) / 1e6);
  json["bytes_per_event"] =
      rounded(static_cast<double>(timeline->memory_bytes()) / static_cast<double>(timeline->event_count()));
  return timeline;
}

// From all of the trace down to single events at many places: frame i shows zoom i of a geometric path, so that every
// zoom, the most expensive one among them, occurs.
Json measure_frames(const Timeline& timeline, int width, int height, int frames) {
  const std::vector<Color> colors = name_colors(timeline.names);
  Screen screen(timeline, width, height);
  const Viewport whole = fit(timeline.span(), width);
  constexpr double kClosest = 20;  // ns per pixel
  std::vector<double> times;
  std::vector<double> cpu_times;
  double slowest_zoom = 0;
  screen.paint(timeline, whole, colors);  // touches the memory once
  for (int i = 0; i < frames; ++i) {
    const double depth = static_cast<double>(i) / std::max(frames - 1, 1);
    const double factor = std::pow(whole.ns_per_pixel / kClosest, depth);
    const double x = width * (0.1 + 0.8 * std::fmod(i * 0.618, 1.0));
    const Viewport view = zoomed(whole, factor, x);
    const Stopwatch watch;
    screen.paint(timeline, view, colors);
    times.push_back(watch.ms());
    cpu_times.push_back(watch.cpu_ms());
    if (times.back() == std::ranges::max(times)) slowest_zoom = view.ns_per_pixel;
  }
  return {{"width", width},
          {"height", height},
          {"frames", frames},
          {"p50_ms", rounded(quantile(times, 0.5))},
          {"p99_ms", rounded(quantile(times, 0.99))},
          {"max_ms", rounded(quantile(times, 1))},
          {"p50_cpu_ms", rounded(quantile(cpu_times, 0.5))},
          {"p99_cpu_ms", rounded(quantile(cpu_times, 0.99))},
          {"max_at_ns_per_pixel", rounded(slowest_zoom)}};
}

template <typename Work>
double median_ms(Work work) {
  std::vector<double> times;
  for (int i = 0; i < 7; ++i) {
    const Stopwatch watch;
    work();
    times.push_back(watch.ms());
  }
  return rounded(quantile(times, 0.5));
}

Json measure_queries(const Timeline& timeline) {
  std::vector<LaneId> lanes(timeline.lanes.size());
  std::iota(lanes.begin(), lanes.end(), LaneId{0});
  const Interval span = timeline.span();
  SearchResult found = search(timeline, "block3", SearchMode::kSubstring, 1920, kThreads);
  return {{"statistics_ms", median_ms([&] { area_statistics(timeline, lanes, span, {}, kThreads); })},
          {"filtered_statistics_ms", median_ms([&] { area_statistics(timeline, lanes, span, found.names, kThreads); })},
          {"search_ms", median_ms([&] { found = search(timeline, "block3", SearchMode::kSubstring, 1920, kThreads); })},
          {"search_hits", found.total}};
}

Json measure(const BenchOptions& options) {
  const Folder folder(options.folder);
  const fs::path& run = folder.path();
  fmt::print(stderr, "swinscope: writing {} events\n", options.events);
  const std::vector<fs::path> files = generate(run, options);
  Json json;
  json["schema"] = "swinscope.bench_frames/1";
  json["ranks"] = options.ranks;
  json["threads"] = kThreads;
  json["file_mb"] = megabytes(files);
  fmt::print(stderr, "swinscope: loading\n");
  json["foreign"] = measure_foreign(run);
  const Stopwatch watch;
  for (const fs::path& file : files)
    store_timeline(file);
  json["store_ms"] = rounded(watch.ms());
  json["file_with_timeline_mb"] = megabytes(files);
  const auto timeline = measure_own(run, options.rounds, json["own"]);
  json["events"] = timeline->event_count();
  json["lanes"] = timeline->lanes.size();
  json["counters"] = timeline->counters.size();
  fmt::print(stderr, "swinscope: drawing\n");
  json["frames_1080p"] = measure_frames(*timeline, 1920, 1080, options.frames);
  json["frames_4k"] = measure_frames(*timeline, 3840, 2160, options.frames);
  json["queries"] = measure_queries(*timeline);
  return json;
}

}  // namespace

int run_bench_frames(std::FILE* out, const BenchOptions& options) {
  try {
    fmt::print(out, "{}\n", measure(options).dump(2));
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "error: {}\n  cause: {}\n", error.what(), error.cause());
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
  }
  return 1;
}

}  // namespace swinscope::gui
