#include "collector/sampling/process_log.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "collector/base/identity.h"
#include "store/error.h"
#include "store/utf8.h"

namespace swinscope {
namespace {

// Memory moves all the time; smaller changes are not worth a row.
constexpr std::int64_t kRssStepBytes = std::int64_t{4} << 20U;

}  // namespace

ProcessLog::ProcessLog(const std::filesystem::path& folder, RunInfo run, std::int64_t start_ns,
                       std::function<void(const std::string&)> report)
    : run_(std::move(run)), start_ns_(start_ns), report_(std::move(report)), folder_(folder) {
  run_.rank = kNoRank;
  attempt([&] {
    const auto path = claim_trace_file(folder, kNoRank, run_.host, pid_of(run_.global_pid));
    writer_ = std::make_unique<TraceWriter>(path, WriteMode::kLive);
    file_name_ = path.filename().string();
    writer_->set_run(run_);
    writer_->flush();
  });
}

template <typename Action>
void ProcessLog::attempt(Action action) {
  try {
    if (needs_roll_back_) {
      writer_->roll_back();
      writer_->set_run(run_);
      needs_roll_back_ = false;
    }
    action();
  } catch (const Error& error) {
    lost_ += std::exchange(unflushed_, 0);
    needs_roll_back_ = writer_ != nullptr;
    if (std::exchange(has_reported_, true)) return;
    report_(fmt::format("the processes of the run are not all recorded: {} ({})", error.what(), error.cause()));
  }
}

std::uint64_t ProcessLog::global_pid(const ProcessTree& tree, std::size_t index) const {
  return make_global_pid(static_cast<std::uint64_t>(tree.processes()[index].stat.pid));
}

ProcessRecord ProcessLog::record_of(const ProcessTree& tree, std::size_t index) {
  const TreeProcess& process = tree.processes()[index];
  ProcessRecord r;
  r.global_pid = global_pid(tree, index);
  r.start_ns = process.start_ns - start_ns_;
  // The kernel's start is a tick early or late; a process that ended at once must not end before it began.
  if (process.end_ns != kOpenEnd) r.end_ns = std::max(process.end_ns - start_ns_, r.start_ns);
  if (process.parent != TreeProcess::kNone) r.parent_global_pid = global_pid(tree, process.parent);
  r.rank = process.rank;
  r.name = writer_->intern(process.stat.name);
  r.command = writer_->intern(replace_invalid_utf8(process.command));
  r.cpu_ns = process.own_ns;
  r.unseen_cpu_ns = process.unseen_ns;
  r.max_rss_bytes = process.max_rss_bytes;
  return r;
}

void ProcessLog::add_sample(std::int64_t now_ns, const ProcessTree& tree, const std::vector<std::size_t>& changed) {
  if (writer_ == nullptr) return;
  attempt([&] {
    for (const std::size_t index : changed)
      writer_->add(record_of(tree, index));
    for (std::size_t i = 0; i < tree.processes().size(); ++i) {
      const TreeProcess& process = tree.processes()[i];
      if (!process.is_alive()) continue;
      Written& last = written_[i];
      const std::int64_t rss_bytes = process.stat.rss_bytes;
      const bool rss_moved = std::abs(rss_bytes - last.rss_bytes) >= kRssStepBytes;
      if (process.own_ns == last.cpu_ns && !rss_moved) continue;
      const std::uint64_t pid = global_pid(tree, i);
      // It did not run for some samples: say until when.
      if (last.cpu_ns >= 0 && last.at_ns != last_sample_ns_) {
        writer_->add(ProcessCpuRecord{last_sample_ns_ - start_ns_, pid, last.cpu_ns, last.rss_bytes});
        ++unflushed_;
      }
      writer_->add(ProcessCpuRecord{now_ns - start_ns_, pid, process.own_ns, rss_bytes});
      ++unflushed_;
      last = {now_ns, process.own_ns, rss_bytes};
    }
  });
  last_sample_ns_ = now_ns;
}

void ProcessLog::add_facts(const std::vector<NamedValue>& facts) {
  if (writer_ == nullptr || facts.empty()) return;
  run_.environment.insert(run_.environment.end(), facts.begin(), facts.end());
  attempt([&] {
    writer_->set_run(run_);
    writer_->flush();
  });
}

void ProcessLog::describe_gpus(const std::vector<GpuIdentity>& gpus) {
  if (writer_ == nullptr) return;
  attempt([&] {
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      GpuInfo info;
      info.device = static_cast<std::int32_t>(i);
      info.name = gpus[i].name;
      info.uuid = gpus[i].uuid;
      info.memory_bytes = gpus[i].memory_bytes;
      run_.gpus.push_back(info);
      for (const GpuMetric& metric : gpu_metrics())
        writer_->add(
            MetricNameRecord{MetricSource{metric.source}, static_cast<std::uint8_t>(i), metric.id, metric.name});
    }
    writer_->set_run(run_);
    writer_->flush();
  });
}

void ProcessLog::add_gpus(const std::vector<GpuSample>& samples) {
  if (writer_ == nullptr) return;
  attempt([&] {
    for (const GpuSample& sample : samples) {
      for (const GpuReading& reading : sample.readings) {
        const auto& all = gpu_metrics();
        const auto metric =
            std::find_if(all.begin(), all.end(), [&](const GpuMetric& known) { return known.id == reading.metric; });
        if (metric == all.end()) continue;
        writer_->add(MetricRecord{sample.time_ns - start_ns_, MetricSource{metric->source},
                                  static_cast<std::uint8_t>(sample.gpu), reading.metric, reading.value});
      }
      ++unflushed_;
    }
  });
}

void ProcessLog::flush() {
  if (writer_ == nullptr) return;
  attempt([&] { writer_->flush(); });
  unflushed_ = 0;
}

void ProcessLog::discard() {
  writer_.reset();
  std::error_code none;
  if (file_name_.empty()) return;
  for (const char* suffix : {"", "-wal", "-shm"})
    std::filesystem::remove(folder_ / (file_name_ + suffix), none);
}

void ProcessLog::finish(const ProcessTree& tree) {
  if (writer_ == nullptr) return;
  attempt([&] {
    for (std::size_t i = 0; i < tree.processes().size(); ++i) {
      writer_->add(record_of(tree, i));
      run_.processes.push_back({global_pid(tree, i), tree.processes()[i].stat.name});
    }
    if (lost_ != 0) run_.drops.push_back({"sample of a process or a GPU", lost_, "the file could not be written"});
    if (lost_gpu_samples_ != 0)
      run_.drops.push_back({"GPU sample", lost_gpu_samples_, "they came faster than the file could take them"});
    run_.complete = true;
    writer_->set_run(run_);
    writer_->finish();
  });
  writer_.reset();
}

}  // namespace swinscope
