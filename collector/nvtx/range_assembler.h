// Puts NVTX events together: a push and its pop, a start and its end become one range in the trace file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "collector/nvtx/nvtx_names.h"
#include "collector/nvtx/payload_json.h"
#include "collector/segment/nvtx_event.h"
#include "store/writer.h"

namespace swinscope {

// The parts of an event. What a head promises and the record does not hold is left out.
struct NvtxEvent {
  explicit NvtxEvent(const std::byte* record);

  EventHead head;
  EventBody body;  // all zero for a plain pop or end
  std::string_view text;
  std::vector<PayloadBlob> blobs;
};

// Used by one thread. Functions that take a TraceWriter throw what it throws.
class RangeAssembler {
 public:
  // Times become relative to `start_ns` (CLOCK_MONOTONIC).
  RangeAssembler(const NvtxNames& names, std::int64_t start_ns) : names_(names), start_ns_(start_ns) {}

  // An event of the thread whose lane has this number.
  void add(TraceWriter& to, std::uint32_t buffer, std::uint64_t global_tid, const NvtxEvent& event);
  // The thread has ended; ranges that it left open stay open.
  void end_thread(TraceWriter& to, std::uint32_t buffer);
  // Every lane was read up to a moment after the last call. An end that came before its start was read, from another
  // thread's lane, waits for it for one pass.
  void end_pass();

  // The same without a file: the event is lost. Returns the ranges and marks that are now lost for good.
  std::int64_t discard(std::uint32_t buffer, const NvtxEvent& event);
  std::int64_t discard_thread(std::uint32_t buffer);

  // Adds the ranges that are open, so that a file that is cut off has them.
  void add_open(TraceWriter& to);
  // All that was added is in the file now, or is not.
  void flushed();
  void lost();
  // A range has begun and not ended.
  bool has_open() const;
  // Ranges and marks added since the last flush, with the one that was being added when the writer threw.
  std::int64_t unflushed() const { return unflushed_ + (beginning_ ? 1 : 0); }

 private:
  struct Open {
    NvtxRecord record;
    std::string payload;  // NVTX_EVENTS.binaryData
    std::uint64_t level = 0;
    std::int64_t row = 0;  // in the file with an open end; 0: not yet
    bool row_is_flushed = false;
  };
  struct End {
    std::int64_t time_ns = 0;
    std::uint64_t global_tid = 0;
    bool is_old = false;
  };
  using Stack = std::vector<Open>;

  void add_graph_node(TraceWriter& to, std::uint64_t global_tid, const NvtxEvent& event) const;
  Open open_of(TraceWriter& to, std::uint64_t global_tid, const NvtxEvent& event);
  void set_payload(TraceWriter& to, Open& open, const NvtxEvent& event);
  void set_value(NvtxRecord& record, const NvtxEvent& event) const;
  StringId registered(TraceWriter& to, std::uint32_t string);
  void mark(TraceWriter& to, std::uint64_t global_tid, const NvtxEvent& event);
  void push(TraceWriter& to, std::uint32_t buffer, std::uint64_t global_tid, const NvtxEvent& event);
  void pop(TraceWriter& to, std::uint32_t buffer, std::uint64_t global_tid, const NvtxEvent& event);
  void start(TraceWriter& to, std::uint64_t global_tid, const NvtxEvent& event);
  void end(TraceWriter& to, std::uint64_t global_tid, const NvtxEvent& event);
  void close(TraceWriter& to, Open& open, std::int64_t end_ns);
  void store(TraceWriter& to, Open& open);
  template <typename Function>
  void for_each_open(Function function);

  const NvtxNames& names_;
  std::int64_t start_ns_;
  std::unordered_map<std::uint32_t, std::map<std::uint32_t, Stack>> stacks_;  // buffer -> domain -> open pushes
  std::unordered_map<std::uint64_t, Open> started_;                           // id -> open range
  std::unordered_map<std::uint64_t, End> ends_;                               // id -> end without a start so far
  std::unordered_map<std::uint32_t, StringId> registered_;                    // registered string -> id in the file
  std::int64_t unflushed_ = 0;
  bool beginning_ = false;  // a mark, or the first part of a range, is on its way
};

}  // namespace swinscope
