#include "collector/base/collector_settings.h"

#include <charconv>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

namespace swinscope {
namespace {

constexpr const char* kRecorder = "SWINSCOPE_RECORDER";
constexpr const char* kClock = "SWINSCOPE_CLOCK";
constexpr const char* kSampleHz = "SWINSCOPE_SAMPLE_HZ";
constexpr const char* kMaxBytes = "SWINSCOPE_MAX_BYTES";
constexpr const char* kRotates = "SWINSCOPE_ROTATES";
constexpr const char* kTrace = "SWINSCOPE_TRACE";
constexpr const char* kGraph = "SWINSCOPE_CUDA_GRAPH";
constexpr const char* kWindow = "SWINSCOPE_WINDOW";
constexpr const char* kDuration = "SWINSCOPE_DURATION_NS";

std::string text_of(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::int64_t count_of(const char* name) {
  const std::string text = text_of(name);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value > 0 ? value : 0;
}

double sample_hz() {
  const std::string text = text_of(kSampleHz);
  char* end = nullptr;
  const double hz = std::strtod(text.c_str(), &end);
  const bool is_number = !text.empty() && *end == '\0';
  return is_number && hz >= 0 && hz <= CollectorSettings::kMaxSampleHz ? hz : CollectorSettings::kDefaultSampleHz;
}

}  // namespace

std::map<std::string, std::string> CollectorSettings::to_environment() const {
  return {{kFolder, folder},
          {kRings, rings},
          {kRecorder, recorder},
          {kClock, clock},
          {kSampleHz, fmt::format("{}", sample_hz)},
          {kMaxBytes, std::to_string(max_bytes)},
          {kRotates, rotates ? "1" : "0"},
          {kTrace, trace_list(trace)},
          {kGraph, trace.graph_level ? "graph" : "node"},
          {kWindow, window_text(window)},
          {kDuration, std::to_string(window.duration_ns)}};
}

CollectorSettings CollectorSettings::from_environment() {
  CollectorSettings settings;
  settings.folder = text_of(kFolder);
  settings.rings = text_of(kRings);
  settings.recorder = text_of(kRecorder);
  settings.clock = text_of(kClock);
  settings.sample_hz = swinscope::sample_hz();
  settings.max_bytes = count_of(kMaxBytes);
  settings.rotates = count_of(kRotates) != 0;
  std::string unknown;
  if (std::getenv(kTrace) != nullptr) {
    if (const auto parsed = parse_trace_list(text_of(kTrace), unknown)) settings.trace = *parsed;
  }
  settings.trace.graph_level = text_of(kGraph) == "graph";
  if (auto parsed = parse_window(text_of(kWindow))) settings.window = std::move(*parsed);
  settings.window.duration_ns = count_of(kDuration);
  return settings;
}

}  // namespace swinscope
