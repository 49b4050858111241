#include "collector/launcher/segment_hub.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>

#include "collector/base/clock.h"
#include "collector/base/environment.h"
#include "collector/base/proc_files.h"
#include "collector/base/process_stat.h"
#include "collector/base/unsignalled_thread.h"
#include "collector/launcher/hub_folder.h"
#include "collector/sampling/thread_cpu.h"
#include "collector/segment/backlog.h"
#include "store/error.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

constexpr std::chrono::milliseconds kPause(5);
constexpr int kLooksPerProcessLook = 8;
constexpr unsigned kMaxWorkers = 16;

// Eight million ranges, if there is so much memory.
std::size_t backlog_bytes() {
  constexpr std::size_t kMost = std::size_t{3} << 29U;
  constexpr std::size_t kShare = 4;  // of what is available
  static const std::size_t bytes = [&] {
    const std::string text = read_small_file("/proc/meminfo");
    const std::size_t at = text.find("MemAvailable:");
    if (at == std::string::npos) return kMost / kShare;
    const std::vector<std::string_view> words = words_of(std::string_view(text).substr(at, text.find('\n', at) - at));
    const std::int64_t kib = words.size() > 1 ? parse_integer(words[1]).value_or(0) : 0;
    return std::min(kMost, static_cast<std::size_t>(kib) * 1024 / kShare);
  }();
  return bytes;
}

// Every process's file takes a few.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Whether any thread of the process lives; its main thread may have ended before the others.
bool lives(std::uint32_t pid, std::uint64_t start_ticks) {
  const auto stat = read_process_stat(static_cast<pid_t>(pid));
  if (!stat || stat->start_ticks != start_ticks) return false;
  return stat->state != 'Z' || threads_of_process(pid).size() > 1;
}

// A process in a namespace of its own knows another id than the one that it has here.
std::uint32_t pid_here(const SegmentHeader& header) {
  if (const auto stat = read_process_stat(static_cast<pid_t>(header.pid));
      stat && stat->start_ticks == header.start_ticks)
    return header.pid;
  for (const std::string& name : names_in("/proc")) {
    const auto pid = parse_integer(name);
    if (!pid) continue;
    const auto stat = read_process_stat(static_cast<pid_t>(*pid));
    if (!stat || stat->start_ticks != header.start_ticks) continue;
    const std::string status = read_small_file(fmt::format("/proc/{}/status", *pid));
    const std::size_t at = status.find("\nNSpid:");
    if (at == std::string::npos) continue;
    const std::string line = status.substr(at + 1, status.find('\n', at + 1) - at - 1);
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() > 2 && parse_integer(words.back()) == std::int64_t{header.pid})
      return static_cast<std::uint32_t>(*pid);
  }
  return 0;
}

}  // namespace

SegmentHub::SegmentHub(HubOptions options) : options_(std::move(options)) {
  remove_abandoned_hub_folders();
  const std::optional<HubFolder> made = make_hub_folder(options_.folder);
  if (!made) return;
  base_ = made->base;
  rings_ = made->rings;
  notes_ = made->notes;
  environment_ = machine_environment();
  if (!options_.mark.empty()) environment_.push_back({"env.SWINSCOPE_RECORDER", options_.mark});
  provide_spares();
}

SegmentHub::~SegmentHub() {
  stop_.store(true);
  if (thread_.joinable()) thread_.join();
  for (const auto& reader : readers_)
    reader->give_up();
  workers_.clear();
  try {
    std::error_code ignored;
    if (is_active()) fs::remove_all(base_, ignored);
  } catch (const std::bad_alloc&) {
    // The next recorder removes it.
  }
}

void SegmentHub::start() {
  if (!is_active()) return;
  raise_descriptor_limit();
  try {
    thread_ = start_unsignalled([this] { run(); });
  } catch (const std::exception&) {
    // No thread, no memory: everything is read in the end.
  }
}

void SegmentHub::process_ends(pid_t pid) {
  const std::int64_t cpu_ns = thread_cpu_ns(0, static_cast<std::uint32_t>(pid));
  const std::lock_guard lock(mutex_);
  ends_[pid] = {monotonic_ns(), cpu_ns};
}

void SegmentHub::look_for_room() const {
  const std::int64_t until_ns = SegmentView::look_for_room(rings_.c_str());
  for (const auto& reader : readers_) {
    if (!reader->has_ended()) reader->set_room(until_ns);
  }
}

// For processes that may not make large files.
void SegmentHub::provide_spares() const {
  for (std::uint32_t i = 0; i < kSpareSegments; ++i)
    Segment::prepare(rings_ / fmt::format("spare{}", i));
}

void SegmentHub::run() {
  pthread_setname_np(pthread_self(), "swinscope-find");
  for (int looks = 0; !stop_.load(std::memory_order_acquire); ++looks) {
    try {
      find_segments();
      if (looks % kLooksPerProcessLook == 0) {
        look_at_processes();
        look_for_room();
        provide_spares();
      }
    } catch (const std::exception&) {
      // No memory, no descriptor: there is another look, and the one in the end.
    }
    std::this_thread::sleep_for(kPause);
  }
}

// The older ones first: the first process of a rank gets the plain name.
void SegmentHub::find_segments() {
  std::vector<std::pair<std::int64_t, fs::path>> found;
  for (const std::string& name : names_in(rings_.string())) {
    if (known_.count(name) != 0 || name.find('.') == std::string::npos) continue;
    const std::size_t dot = name.find('.');
    found.emplace_back(parse_integer(name.substr(dot + 1, name.rfind('.') - dot - 1)).value_or(0), rings_ / name);
  }
  std::sort(found.begin(), found.end());
  for (const auto& [time, path] : found)
    open_segment(path);
}

void SegmentHub::open_segment(const fs::path& path) {
  Segment segment;
  try {
    segment = Segment::open(path.string());
  } catch (const Error&) {
    return;  // being made, or of a process that was killed while it made it
  }
  const SegmentHeader& header = segment.header();
  if (header.is_ready.load(std::memory_order_acquire) == 0) return;
  known_.insert(path.filename().string());
  RecordingOptions options;
  options.folder = options_.folder;
  options.utc_offset_ns = options_.utc_offset_ns;
  options.sample_hz = options_.sample_hz;
  options.max_bytes = options_.max_bytes;
  options.rotates = options_.rotates;
  options.backlog_bytes = backlog_bytes();
  options.pid = pid_here(header);
  options.environment = environment_;
  if (header.affinity_cores != 0) set_affinity(options.environment, header.affinity_cores);
  // An image that its process has replaced by another one writes no more.
  for (const auto& reader : readers_) {
    if (reader->header().pid == header.pid && reader->header().start_ticks == header.start_ticks) reader->ended({});
  }
  auto reader = std::make_shared<SegmentReader>(path, std::move(segment), std::move(options));
  readers_.push_back(reader);
  least_busy().add(std::move(reader));
}

SegmentWorker& SegmentHub::least_busy() {
  const unsigned most = std::clamp(std::thread::hardware_concurrency(), 1U, kMaxWorkers);
  const auto least = std::min_element(workers_.begin(), workers_.end(),
                                      [](const auto& a, const auto& b) { return a->count() < b->count(); });
  const bool may_add = workers_.size() < most;
  if (workers_.empty() || ((*least)->count() > 0 && may_add)) {
    workers_.push_back(std::make_unique<SegmentWorker>());
    return *workers_.back();
  }
  return **least;
}

void SegmentHub::look_at_processes() {
  for (const auto& reader : readers_) {
    if (reader->has_ended() || reader->pid() == 0 || lives(reader->pid(), reader->header().start_ticks)) continue;
    ProcessEnd end;
    {
      const std::lock_guard lock(mutex_);
      const auto known = ends_.find(static_cast<pid_t>(reader->pid()));
      if (known != ends_.end()) end = known->second;
    }
    reader->ended(end);
  }
  // What is done is kept no longer, unless it has something to say.
  const auto is_told = [](const auto& reader) { return reader->is_done() && reader->untold().empty(); };
  readers_.erase(std::remove_if(readers_.begin(), readers_.end(), is_told), readers_.end());
}

// "pid.n", a link to the number of the error.
std::vector<std::string> SegmentHub::read_notes() const {
  std::vector<std::string> lines;
  std::error_code error;
  for (const std::string& name : names_in(notes_.string())) {
    const auto code = parse_integer(fs::read_symlink(notes_ / name, error).string());
    const auto pid = parse_integer(name.substr(0, name.find('.')));
    if (!code || !pid) continue;
    const std::string why = std::generic_category().message(static_cast<int>(*code));
    lines.push_back(fmt::format("process {} could not be recorded: no shared memory: {}", *pid, why));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::size_t SegmentHub::finish(std::set<std::int64_t>& alive, const std::function<void(const std::string&)>& report) {
  if (!is_active()) return 0;
  stop_.store(true);
  if (thread_.joinable()) thread_.join();
  find_segments();
  look_at_processes();
  for (const auto& reader : readers_) {
    if (reader->has_ended()) continue;
    if (alive.erase(reader->pid()) != 0) {
      report(fmt::format("process {} still runs: what it does from now on is not recorded", reader->pid()));
      reader->give_up();
    } else {
      reader->ended({});
    }
  }
  constexpr std::size_t kMib = std::size_t{1} << 20U;
  constexpr std::size_t kWorthAWord = 64 * kMib;
  if (const std::size_t bytes = Backlog::bytes_of_all(); bytes > kWorthAWord)
    report(fmt::format("events came faster than the files could take them: {} MiB are being stored now", bytes / kMib));
  workers_.clear();
  std::size_t told = 0;
  for (const auto& reader : readers_) {
    const std::vector<DropInfo> untold = reader->untold();
    if (!untold.empty()) ++told;
    for (const DropInfo& drop : untold)
      report(fmt::format("process {}: {} lost: {}: {}", reader->header().pid, drop.count, drop.what, drop.reason));
  }
  readers_.clear();
  const std::vector<std::string> notes = read_notes();
  for (const std::string& line : notes)
    report(line);
  return told + notes.size();
}

}  // namespace swinscope
