// Turns the events of one process of a PyTorch trace into records.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/importers/kineto_event.h"
#include "analyzer/importers/kineto_memory.h"
#include "analyzer/importers/kineto_own.h"
#include "store/sink.h"

namespace swinscope {

// Saturates what does not fit; negative values are 0.
template <typename T>
T narrow(std::int64_t value);

// Gives every id of 64 bits one of 32 bits. Ids that fit keep their value; the others, which joins only compare, are
// numbered from kFirst. Wider columns would cost every trace memory for the few that have such ids (addresses, mostly).
class SmallIds {
 public:
  static constexpr std::uint32_t kFirst = 0xF000'0000;

  std::uint32_t small(std::int64_t id);
  // The ids that were too large, and their numbers.
  const std::unordered_map<std::int64_t, std::uint32_t>& large() const { return large_; }

 private:
  std::unordered_map<std::int64_t, std::uint32_t> large_;
};

class KinetoRecords {
 public:
  // `pid`: the process that GPU events belong to; 0: the one that launches, once it is known (readers take 0 as the
  // process of the rank).
  KinetoRecords(RecordSink& sink, std::uint64_t pid);

  // The events that follow are those of an export of ours: ids are as they were, and what it says beyond PyTorch's
  // arguments counts.
  void set_exact(const OwnExport& exported);
  // A domain or a kernel's names.
  void define(const OwnEvent& event);

  // Times are those that are stored; that of a CUDA event may be kUnknownTime. `host_pid`: as make_global_pid() takes
  // it, of host events.
  void add(const KinetoEvent& event, KinetoKind kind, std::int64_t start_ns, std::int64_t end_ns,
           std::uint64_t host_pid);
  void add_mark(const KinetoEvent& event, std::int64_t time_ns);

  void name_process(std::uint64_t pid, std::string_view name);
  void name_thread(std::uint64_t pid, const KinetoEvent& event);

  // Fills in what the records say about the process, and hands it over.
  void finish(RunInfo run);

  std::int64_t records() const { return records_; }
  std::uint64_t pid() const { return pid_ != 0 ? pid_ : first_host_pid_; }
  std::uint32_t stream_of(const KinetoEvent& event);
  const SmallIds& streams() const { return streams_; }
  const std::vector<std::int32_t>& devices() const { return devices_; }  // in order of appearance

 private:
  struct Times {
    std::int64_t start_ns;
    std::int64_t end_ns;
  };

  void add_domains();
  void add_domain(std::uint32_t id, std::string_view name);
  std::uint32_t domain_of(KinetoKind kind) const;
  std::uint64_t process() const {
    if (exact_) return exact_->global_pid;
    return pid() == 0 && host_pids_.empty() ? 0 : make_global_pid(pid());
  }
  std::uint64_t host_thread(const KinetoEvent& event, std::uint64_t pid);
  std::uint64_t global_tid(std::uint64_t pid, std::int64_t tid);
  std::int64_t thread_key(const KinetoEvent& event);
  template <typename Record>
  Record gpu_record(const KinetoEvent& event, Times times);
  void kernel(const KinetoEvent& event, Times times);
  void collective(const KinetoEvent& event, const KernelRecord& kernel);
  void copy(const KinetoEvent& event, Times times);
  void set(const KinetoEvent& event, Times times);
  void sync(const KinetoEvent& event, Times times);
  void wait_for(const KinetoEvent& event, SyncRecord& sync);
  void cuda_event(const KinetoEvent& event, Times times);
  void api(const KinetoEvent& event, Times times, ApiClass api_class, std::uint64_t pid);
  void overhead(const KinetoEvent& event, Times times);
  void range(const KinetoEvent& event, Times times, KinetoKind kind, std::uint64_t global_tid);
  std::uint32_t correlation_of(const KinetoEvent& event);
  std::uint64_t graph_node_of(const KinetoEvent& event) const;
  void whole_graph(const KinetoEvent& event, Times times);

  struct KernelNames {
    std::string short_name;
    std::string symbol;
  };

  RecordSink& sink_;
  KinetoMemory memory_;
  std::uint64_t pid_;
  std::optional<OwnExport> exact_;
  bool has_domains_ = false;
  bool has_whole_graphs_ = false;
  std::map<std::string, std::uint32_t, std::less<>> exact_domains_;
  std::map<std::string, KernelNames, std::less<>> exact_kernels_;
  std::uint64_t first_host_pid_ = 0;
  std::int64_t records_ = 0;
  std::vector<std::int32_t> devices_;
  SmallIds streams_;
  SmallIds contexts_;
  SmallIds correlations_;
  // By the correlation of the call that recorded it, which is the number by which waits find it.
  std::map<std::uint32_t, CudaEventRecord> cuda_events_;
  std::map<std::uint64_t, bool> host_pids_;
  std::map<std::uint64_t, std::string> process_names_;
  std::map<std::pair<std::uint64_t, std::int64_t>, std::string> thread_names_;
  std::map<std::int64_t, std::uint64_t> big_tids_;
  std::map<std::string, std::int64_t, std::less<>> named_tids_;
  std::unordered_map<StringId, StringId> short_names_;
};

}  // namespace swinscope
