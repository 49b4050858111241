// What `swinscope export --format kineto` writes beyond what PyTorch does, so that importing the file gives the
// recording back: the facts of the run beside the events (key "swinscope"), and metadata events in front of the others,
// which viewers and other tools pass over:
//   swinscope_export   the first event: whose file it is, and how far exported times were moved
//   swinscope_domain   an NVTX domain: id and name
//   swinscope_kernel   a kernel's full name with its short name and linker symbol, where these do not follow from it
//   swinscope_records  rows of records that the format has no event for
// All of it may be damaged or made up: what does not fit is left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analyzer/trace/trace.h"
#include "store/sink.h"

namespace swinscope {

inline constexpr std::string_view kOwnFacts = "swinscope";
inline constexpr std::string_view kOwnPrefix = "swinscope_";
inline constexpr std::string_view kOwnExport = "swinscope_export";
inline constexpr std::string_view kOwnDomain = "swinscope_domain";
inline constexpr std::string_view kOwnKernel = "swinscope_kernel";
inline constexpr std::string_view kOwnRecords = "swinscope_records";

// Everything of a run but its rank, which stands in "distributedInfo".
nlohmann::ordered_json own_facts(const RunInfo& run);
// Into `run`; false when it is no object of ours.
bool read_own_facts(const nlohmann::json& facts, RunInfo& run);

// Of the first event.
struct OwnExport {
  std::int64_t offset_ns = 0;  // exported time - recorded time
  std::uint64_t global_pid = 0;
  std::string source;  // RunInfo::source
};

// One of the metadata events, parsed. `json` is its text.
struct OwnEvent {
  std::string name;
  OwnExport exported;
  // Domain: number is its id. Kernel: text is the full name.
  std::uint32_t number = 0;
  std::string text;
  std::string short_name;
  std::string symbol;
};
std::optional<OwnEvent> read_own_event(std::string_view json);

// Rows of one kind, as JSON arrays.
std::vector<nlohmann::ordered_json> own_graph_nodes(const Rank& rank);
std::vector<nlohmann::ordered_json> own_cuda_events(const Rank& rank);
std::vector<nlohmann::ordered_json> own_collectives(const Trace& trace, const Rank& rank);
std::vector<nlohmann::ordered_json> own_thread_cpu(const Rank& rank);
std::vector<nlohmann::ordered_json> own_processes(const Trace& trace, const Launcher& launcher);
std::vector<nlohmann::ordered_json> own_process_cpu(const Launcher& launcher);

// Adds the rows of events named swinscope_records to the rank, and those of the recorders that started it, which stand
// in the file of one rank, to processes of their own.
class OwnRecords {
 public:
  OwnRecords(RecordSink& rank, TraceSink* trace) : rank_(rank), trace_(trace) {}
  // Returns how many rows could not be used.
  std::int64_t take(std::string_view json);
  // Processes that were added to the trace.
  std::size_t launchers() const { return launchers_.size(); }

 private:
  static bool take_row(std::string_view kind, const nlohmann::json& values, RecordSink& sink);
  RecordSink* launcher(std::size_t index);

  RecordSink& rank_;
  TraceSink* trace_;
  std::vector<RecordSink*> launchers_;
};

}  // namespace swinscope
