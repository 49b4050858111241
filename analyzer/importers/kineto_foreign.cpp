#include "analyzer/importers/kineto_foreign.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "store/utf8.h"

namespace swinscope {
namespace {

// A damaged or foreign file can name any number of categories.
constexpr std::size_t kMaxCategories = 32;
constexpr std::size_t kShownCategories = 3;

constexpr std::string_view kExportAdvice = "export the trace with torch.profiler's export_chrome_trace";

struct Look {
  std::string source;
  std::string advice = std::string(kExportAdvice);
};

// A document without "traceEvents", by its keys.
Look look_of_object(std::string_view text) {
  const auto has = [&](std::string_view key) { return text.find(key) != std::string_view::npos; };
  if (has("\"nodes\"") && (has("chakra") || has("\"start_ts\"") || has("\"schema\""))) {
    return {"it looks like a PyTorch execution trace (Chakra), which has operators but no times of the GPU"};
  }
  if (has("\"device_traces\"") || (has("\"segments\"") && has("\"blocks\""))) {
    return {"it looks like a CUDA memory snapshot of PyTorch, which has allocations but no kernels"};
  }
  if (has("\"swinscope.")) {
    return {"it is a document that swinscope wrote, not a trace", "give the run folder or the trace itself"};
  }
  return {"there is no \"traceEvents\" array"};
}

Look look_of_list(const JsonDocument& document) {
  if (document.odd_elements == 0) return {"it is an empty list"};
  if (document.first_odd == '[') {
    return {"it is a list of lists, as a memory timeline of torch.profiler (export_memory_timeline) is"};
  }
  return {"it is a list of values that are no events"};
}

}  // namespace

void KinetoCensus::take(const KinetoEvent& event, KinetoKind kind) {
  ++total_;
  if (event.phase == "M") {
    is_xla_ |=
        event.name == "process_name" && (event.label.starts_with("/device:") || event.label.starts_with("/host:"));
    return;
  }
  is_xla_ |= event.has_hlo;
  is_legacy_ |= event.pid_text == "CPU functions" || event.pid_text == "CUDA functions";
  has_device_pids_ |= event.pid_text.starts_with("Device ");
  if (event.phase != "X" && event.phase != "B" && event.phase != "E") return;
  if (kind == KinetoKind::kIgnored) return;
  if (kind != KinetoKind::kOther) {
    ++known_;
    return;
  }
  ++unknown_;
  if (categories_.size() < kMaxCategories || has(event.category)) ++categories_[std::string(event.category)];
}

bool KinetoCensus::is_nsys() const {
  constexpr std::array<std::string_view, 4> kCategories = {"cuda", "nvtx", "cuda_api", "nvtx-kernel"};
  return std::ranges::any_of(kCategories, [&](std::string_view c) { return has(c); }) &&
         (has_device_pids_ || has("cuda_api") || has("nvtx-kernel") || (has("cuda") && has("nvtx")));
}

bool KinetoCensus::is_browser() const {
  constexpr std::array<std::string_view, 7> kCategories = {"__metadata", "blink",    "v8",     "devtools.timeline",
                                                           "cc",         "toplevel", "loading"};
  return std::ranges::any_of(kCategories, [&](std::string_view c) { return has(c); }) ||
         std::ranges::any_of(categories_, [](const auto& c) { return c.first.starts_with("disabled-by-default"); });
}

std::string KinetoCensus::source() const {
  if (is_legacy_) {
    return "it looks like an export of the older autograd profiler, whose GPU times are of operators, not of kernels";
  }
  if (is_xla_) return "it looks like a profile of JAX or TensorFlow (XLA)";
  if (is_nsys()) return "it looks like a Chrome trace made of an Nsight Systems report (nsys2json)";
  if (is_browser()) return "it looks like a trace of the Chrome browser";
  if (unknown_ == 0) return "its \"traceEvents\" hold no event with a time";
  std::string names;
  std::size_t shown = 0;
  for (const auto& [name, count] : categories_) {
    if (name.empty() || shown++ == kShownCategories) continue;
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", cut_text(name, 40));
  }
  return names.empty() ? "it is a Chrome trace whose events have no category"
                       : fmt::format("it is a Chrome trace with events of the kind {}", names);
}

std::string KinetoCensus::advice() const {
  if (is_legacy_) return "record it again with torch.profiler.profile and its export_chrome_trace";
  if (is_xla_) return "record it with Nsight Systems instead and give its .sqlite export";
  if (is_nsys()) return "give the report's .sqlite export: nsys export --type sqlite FILE.nsys-rep";
  return std::string(kExportAdvice);
}

Error refuse_foreign(const std::string& path, const JsonDocument& document, const KinetoCensus& census) {
  const bool has_events = census.total() > 0;
  const bool is_list = document.skeleton.starts_with('[');
  Look look;
  if (!document.found_events) {
    look = look_of_object(document.skeleton);
  } else if (has_events || !is_list) {
    look = {census.source(), census.advice()};
  } else {
    look = look_of_list(document);
  }
  return {ErrorKind::kInput, fmt::format("{}: JSON, but not a PyTorch trace", path), look.source, look.advice};
}

}  // namespace swinscope
