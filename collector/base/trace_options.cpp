#include "collector/base/trace_options.h"

#include <algorithm>
#include <array>

namespace swinscope {
namespace {

struct Word {
  std::string_view name;
  bool TraceOptions::*field;
};
constexpr std::array<Word, 7> kWords = {{{"cuda", &TraceOptions::cuda},
                                         {"nvtx", &TraceOptions::nvtx},
                                         {"api", &TraceOptions::all_calls},
                                         {"sync", &TraceOptions::sync},
                                         {"memory", &TraceOptions::memory},
                                         {"overhead", &TraceOptions::overhead},
                                         {"nccl", &TraceOptions::nccl}}};

// Functions whose name begins so, behind "cuda" or "cu".
constexpr std::array<std::string_view, 12> kCalls = {
    "Launch",           "GraphLaunch", "Memcpy", "Memset",    "StreamSynchronize", "DeviceSynchronize",
    "EventSynchronize", "Malloc",      "Free",   "HostAlloc", "CtxSynchronize",    "GraphInstantiate"};
// Those that the records of --trace sync and memory join.
constexpr std::array<std::string_view, 2> kSyncCalls = {"EventRecord", "StreamWaitEvent"};
constexpr std::array<std::string_view, 1> kMemoryCalls = {"MemPool"};

bool begins_with(std::string_view text, std::string_view part) { return text.substr(0, part.size()) == part; }

}  // namespace

std::optional<TraceOptions> parse_trace_list(std::string_view list, std::string& unknown) {
  TraceOptions options;
  for (const Word& word : kWords)
    options.*word.field = false;
  while (!list.empty()) {
    const std::string_view name = list.substr(0, list.find(','));
    list.remove_prefix(std::min(name.size() + 1, list.size()));
    const auto* const word =
        std::find_if(kWords.begin(), kWords.end(), [&](const Word& known) { return known.name == name; });
    if (word == kWords.end()) {
      unknown = name;
      return std::nullopt;
    }
    options.*word->field = true;
  }
  // The rest is about CUDA, too.
  options.cuda = options.cuda || options.all_calls || options.sync || options.memory || options.overhead;
  return options;
}

std::string trace_list(const TraceOptions& options) {
  std::string list;
  for (const Word& word : kWords) {
    if (!(options.*word.field)) continue;
    if (!list.empty()) list += ',';
    list += word.name;
  }
  return list;
}

bool is_traced_call(std::string_view name, const TraceOptions& options) {
  if (options.all_calls) return true;
  if (begins_with(name, "cuda")) {
    name.remove_prefix(4);
  } else if (begins_with(name, "cu")) {
    name.remove_prefix(2);
    if (begins_with(name, "Mem") && (begins_with(name, "MemAlloc") || begins_with(name, "MemFree"))) return true;
  } else {
    return false;
  }
  const auto begins_with_one_of = [&](const auto& calls) {
    return std::any_of(calls.begin(), calls.end(), [&](std::string_view call) { return begins_with(name, call); });
  };
  return begins_with_one_of(kCalls) || (options.sync && begins_with_one_of(kSyncCalls)) ||
         (options.memory && begins_with_one_of(kMemoryCalls));
}

}  // namespace swinscope
