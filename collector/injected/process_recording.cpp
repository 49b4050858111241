#include "collector/injected/process_recording.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "collector/base/clock.h"
#include "collector/base/identity.h"
#include "collector/base/proc_files.h"
#include "store/error.h"
#include "store/utf8.h"

namespace swinscope {
namespace {

// The first commits come early, so that a recording can be looked at soon.
constexpr std::int64_t kFirstFlushNs = 20'000'000;

std::int64_t period_of(double hz) { return hz > 0 ? static_cast<std::int64_t>(1e9 / hz) : 0; }

std::string reason_of(const std::exception& error) {
  const auto* own = dynamic_cast<const Error*>(&error);
  return own != nullptr && !own->cause().empty() ? own->cause() : error.what();
}

// What the collector says of itself changes all the time; that is written along with the rest, and at the end.
bool is_same(const RunInfo& a, const RunInfo& b) {
  return a.threads == b.threads && a.drops == b.drops && a.gpus == b.gpus && a.contexts == b.contexts &&
         a.streams == b.streams && a.environment == b.environment && a.collector.size() == b.collector.size();
}

// Adds counts of the same kinds.
void add_to(std::vector<DropInfo>& sums, const std::vector<DropInfo>& counts) {
  for (const DropInfo& drop : counts) {
    const auto same = [&](const DropInfo& sum) { return sum.what == drop.what && sum.reason == drop.reason; };
    const auto sum = std::find_if(sums.begin(), sums.end(), same);
    if (sum == sums.end()) {
      sums.push_back(drop);
    } else {
      sum->count += drop.count;
    }
  }
}

std::string proc_folder(std::uint32_t pid) {
  return pid == 0 ? std::string("/proc/self/") : fmt::format("/proc/{}/", pid);
}

}  // namespace

ProcessRecording::ProcessRecording(const SegmentView& segment, RecordingOptions options)
    : options_(std::move(options)),
      segment_(segment),
      global_pid_(make_global_pid(segment.header().pid)),
      nvtx_(segment, global_pid_, segment.header().start_ns, options_.backlog_bytes),
      thread_cpu_(global_pid_, segment.header().start_ns, period_of(options_.sample_hz), options_.pid),
      sources_({&nvtx_, &thread_cpu_}),
      flush_period_ns_(kFirstFlushNs) {
  claim_file();
}

template <typename Action>
bool ProcessRecording::attempt(Action action) {
  try {
    action();
    return true;
  } catch (const std::exception& error) {
    failed(reason_of(error));
  }
  return false;
}

void ProcessRecording::claim_file() {
  const SegmentHeader& header = segment_.header();
  run_.source = "swinscope";
  run_.rank = std::max(header.rank, 0);
  run_.world_size = header.world_size;
  run_.global_pid = global_pid_;
  run_.host = host_name();
  run_.utc_epoch_ns = header.start_ns + options_.utc_offset_ns;
  if (options_.process_name.empty()) options_.process_name = read_line_of(proc_folder(options_.pid) + "comm");
  run_.processes.push_back({global_pid_, replace_invalid_utf8(options_.process_name)});
  run_.environment = options_.environment;
  attempt([&] { path_ = claim_trace_file(options_.folder, run_.rank, run_.host, pid_of(global_pid_)); });
}

void ProcessRecording::open_file() {
  is_open_ = true;
  next_flush_ns_ = monotonic_ns() + flush_period_ns_;
  if (path_.empty()) return;
  attempt([&] {
    note_ = std::make_unique<DropNote>(path_);
    writer_ = std::make_unique<TraceWriter>(path_, WriteMode::kLive);
    poll();
    update_run(false);
    writer_->flush();
  });
}

bool ProcessRecording::work() {
  if (!is_open_) open_file();
  const std::int64_t before_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  const bool has_more = poll();
  if (monotonic_ns() >= next_flush_ns_) flush();
  cpu_ns_ += clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
  return has_more;
}

void ProcessRecording::flush_now() {
  work();
  flush();
}

bool ProcessRecording::poll() {
  if (writer_ == nullptr || is_full_) {
    discard();
    return false;
  }
  bool has_more = false;
  for (Source* source : sources_) {
    if (needs_roll_back_) return false;
    attempt([&] { has_more = !source->poll(*writer_) || has_more; });
  }
  return has_more;
}

void ProcessRecording::flush() {
  flush_period_ns_ = std::min(2 * flush_period_ns_, options_.flush_period_ns);
  next_flush_ns_ = monotonic_ns() + flush_period_ns_;
  const bool had_failed = needs_roll_back_;
  if (writer_ != nullptr && needs_roll_back_) {
    needs_roll_back_ = !attempt([&] { writer_->roll_back(); });
    said_.reset();
  }
  if (writer_ == nullptr || needs_roll_back_ || is_full_) {
    discard();
  } else {
    const bool written = attempt([&] {
      for (Source* source : sources_)
        source->before_flush(*writer_);
      if (!said_ || !is_same(describe(), *said_)) update_run(false);
      writer_->flush();
    });
    if (written) {
      for (Source* source : sources_)
        source->flushed();
      add_to(rotated_out_, std::exchange(rotating_out_, {}));
      check_size();
    } else if (had_failed) {
      discard();  // not even the description of the run fits: nothing is polled meanwhile, and the buffers are full
    }
  }
  if (note_ != nullptr) note_->write(describe().drops);
}

void ProcessRecording::check_size() {
  if (options_.max_bytes <= 0 || writer_->bytes() < options_.max_bytes) return;
  if (options_.rotates) {
    attempt([&] { rotate(); });
  } else {
    end_file();
  }
}

// Where names and descriptions alone fill the file, no room can be made.
void ProcessRecording::rotate() {
  constexpr std::int64_t kParts = 8;
  const auto is_full = [&] { return writer_->bytes() > options_.max_bytes / kParts * (kParts - 1); };
  said_.reset();
  // One commit may hold more than half of what the file may.
  for (int tries = 0; tries < kParts && is_full(); ++tries)
    add_to(rotating_out_, writer_->make_room());
  if (is_full()) end_file();
}

// What is in the file stays whole and is finished in the end; what comes later is counted.
void ProcessRecording::end_file() {
  is_full_ = true;
  failure_ = "the file has reached the size of --max-size";
  segment_.header().is_full.store(1, std::memory_order_release);
}

void ProcessRecording::failed(const std::string& reason) {
  failure_ = reason;
  needs_roll_back_ = true;
  rotating_out_.clear();
  for (Source* source : sources_)
    source->lost(reason);
}

void ProcessRecording::discard() {
  for (Source* source : sources_)
    source->discard(failure_);
}

RunInfo ProcessRecording::describe() {
  RunInfo run = run_;
  for (Source* source : sources_)
    source->describe(run);
  add_to(run.drops, rotated_out_);
  add_to(run.drops, rotating_out_);
  run.collector.push_back({"writer.cpu_ns", std::to_string(cpu_ns_)});
  return run;
}

void ProcessRecording::update_run(bool complete) {
  RunInfo now = describe();
  now.complete = complete;
  writer_->set_run(now);
  said_ = std::move(now);
}

void ProcessRecording::finish(bool is_over) {
  if (!is_open_) open_file();
  if (writer_ != nullptr && needs_roll_back_) needs_roll_back_ = !attempt([&] { writer_->roll_back(); });
  if (writer_ != nullptr && !needs_roll_back_) {
    is_done_ = attempt([&] {
      if (is_full_) discard();
      for (Source* source : sources_) {
        if (!is_full_) source->finish(*writer_);
      }
      // A process that ended without a word has lost nothing, unless CUPTI still had some of it.
      const bool has_said = segment_.header().has_ended.load(std::memory_order_acquire) != 0;
      update_run(has_said || (is_over && nvtx_.is_whole()));
      writer_->finish();
    });
  } else {
    discard();
  }
  if (note_ == nullptr) return;
  if (is_done_) {
    note_->remove();
  } else {
    note_->write(describe().drops);
  }
}

std::vector<DropInfo> ProcessRecording::untold() {
  std::error_code ignored;
  if (!path_.empty() && !std::filesystem::exists(path_, ignored))
    return {{"everything", 1, "the trace file was removed while it was being written"}};
  return is_done_ || note_ != nullptr ? std::vector<DropInfo>() : describe().drops;
}

}  // namespace swinscope
