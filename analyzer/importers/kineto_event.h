// One event of a PyTorch profiler (Kineto) trace, as written: parsed from its JSON text, not yet interpreted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "store/records.h"

namespace swinscope {

// Microseconds in decimal notation ("4364887253316.716", "-3", "1.5e3") to integer nanoseconds, exactly; a fourth and
// further decimal is rounded to the nearest. Empty for anything that is no finite number or beyond +-2^61 ns.
std::optional<std::int64_t> parse_microseconds(std::string_view text);

// What an event is about, by its category; older PyTorch versions had other names for some.
enum class KinetoKind : std::uint8_t {
  kKernel,
  kCopy,
  kSet,
  kSync,
  kCudaEvent,
  kGpuAnnotation,  // up to here they stand on a device and a stream
  kRuntime,
  kDriver,
  kOperator,
  kAnnotation,
  kPython,
  kOverhead,
  kIgnored,  // says again what others say
  kOther,
};
KinetoKind kineto_kind(std::string_view category);
inline bool is_on_gpu(KinetoKind kind) { return kind <= KinetoKind::kGpuAnnotation; }
// Whether the text of an event is an arrow between two others, which correlation and sequence number say as well: found
// without parsing it, where the phase is its first field. False for what may be damaged.
bool is_flow_arrow(std::string_view text);
// A call that makes a GPU work.
bool is_launch_call(std::string_view name);

// Arguments that only our own exports have (kineto_own.h).
struct OwnArguments {
  std::optional<std::int64_t> global_pid;  // as bits of the serialized id; so is global_tid
  std::optional<std::int64_t> global_tid;
  std::optional<std::int64_t> domain;
  std::optional<std::int64_t> whole_graph;
  std::optional<std::int64_t> stream;
  std::string_view payload;  // text, or raw JSON
  Dim3 cluster;
  std::int64_t static_shared_memory = 0;
  std::int64_t event_sync = 0;
  std::int64_t type = 0;
  std::int64_t green_context = 0;
  std::int64_t range = 0;
  std::int64_t category = 0;
  std::int64_t color = 0;
  std::int64_t value_type = 0;
  std::int64_t int64_value = 0;
  std::int64_t double_bits = 0;
  bool is_derived = false;  // it says again what others say
};

// Views are valid until the next parse. A field that the event does not have keeps its default.
struct KinetoEvent {
  std::string_view phase;
  std::string_view category;
  std::string_view name;
  std::optional<std::int64_t> ts_ns;
  std::optional<std::int64_t> dur_ns;
  bool bad_time = false;  // ts or dur is there but is no number
  std::optional<std::int64_t> pid;
  std::optional<std::int64_t> tid;
  std::string_view pid_text;  // of derived events and merged traces: one that is no number
  std::string_view tid_text;

  // args
  std::optional<std::int64_t> device;
  std::int64_t context = 0;
  std::optional<std::int64_t> stream;
  std::optional<std::int64_t> correlation;
  std::int64_t external_id = 0;
  std::optional<std::int64_t> sequence;
  std::int64_t bytes = 0;
  std::int64_t graph_node = 0;
  std::int64_t graph = 0;
  std::int64_t registers = 0;
  std::int64_t shared_memory = 0;
  std::int64_t event_id = 0;
  std::optional<std::int64_t> wait_stream;  // on which the event that is waited for was recorded
  std::optional<std::int64_t> wait_record;  // correlation of the call that recorded it; -1: not known
  Dim3 grid;
  Dim3 block;
  std::string_view label;       // metadata: "name", or "labels"
  bool has_hlo = false;         // arguments of XLA, which no PyTorch trace has
  std::string_view input_dims;  // raw JSON
  std::string_view input_types;
  std::string_view concrete_inputs;  // of scalars and lists of them: strings, "" for tensors
  std::string_view collective;
  std::string_view dtype;
  std::string_view group_name;
  std::string_view group_ranks;
  std::int64_t in_elements = 0;
  std::int64_t out_elements = 0;
  std::int64_t group_size = 0;
  std::optional<std::int64_t> seq;
  // Of "[memory]": what PyTorch's allocator has on a device after an allocation or a release.
  std::optional<std::int64_t> total_allocated;
  std::optional<std::int64_t> total_reserved;
  std::optional<std::int64_t> memory_device;  // below 0: the host
  std::optional<std::int64_t> device_type;    // 0: the host
  OwnArguments own;
};

class KinetoEventParser {
 public:
  KinetoEventParser();
  ~KinetoEventParser();
  KinetoEventParser(const KinetoEventParser&) = delete;
  KinetoEventParser& operator=(const KinetoEventParser&) = delete;
  KinetoEventParser(KinetoEventParser&&) = delete;
  KinetoEventParser& operator=(KinetoEventParser&&) = delete;

  // Bytes that must be readable behind `text`.
  static std::size_t padding();

  // Null when the text is no JSON object; `error()` then says why. Invalid UTF-8 is replaced by U+FFFD first and
  // counted.
  const KinetoEvent* parse(std::string_view text);
  std::string_view error() const { return error_; }
  // From now on the arguments of our own exports are read, too.
  void expect_own() { expects_own_ = true; }
  std::int64_t repaired() const { return repaired_; }

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
  KinetoEvent event_;
  std::string_view error_;
  std::int64_t repaired_ = 0;
  bool expects_own_ = false;
};

}  // namespace swinscope
