#include "analyzer/timeline/timeline_open.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "analyzer/base/parallel.h"
#include "analyzer/importers/open.h"
#include "analyzer/timeline/timeline_cache.h"
#include "analyzer/timeline/timeline_file.h"
#include "store/error.h"
#include "store/reader.h"
#include "store/schema.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

// Rough sizes of an event, for progress only.
constexpr double kBytesPerJsonEvent = 266;
constexpr double kBytesPerRow = 90;
// gzip makes of a trace about a fifteenth.
constexpr double kGzipRatio = 15;

// Shares of building a timeline from events.
constexpr double kReadShare = 0.75;
constexpr double kLayoutShare = 0.9;

// One file on its way into the timeline.
struct Part {
  fs::path file;
  double weight = 1;  // of its progress
  std::string identity;
  std::optional<TimelineFile> stored;
  Timeline timeline;
  std::optional<Error> error;
};

// Joins the progress of several files, which several threads make, into one that never goes back.
class Progress {
 public:
  Progress(LoadControl& control, const std::vector<Part>& parts) : control_(control), parts_(parts) {
    fractions_.resize(parts.size());
    for (const Part& part : parts)
      total_ += part.weight;
  }

  void set(std::size_t part, double fraction, std::string_view what) {
    const std::lock_guard lock(mutex_);
    fractions_[part] = std::clamp(fraction, fractions_[part], 1.0);
    double done = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i)
      done += parts_[i].weight * fractions_[i];
    if (control_.on_progress) {
      control_.on_progress(done / total_, fmt::format("{} {}", what, parts_[part].file.filename().string()));
    }
  }

 private:
  LoadControl& control_;
  const std::vector<Part>& parts_;
  std::mutex mutex_;
  std::vector<double> fractions_;
  double total_ = 0;
};

class Loader {
 public:
  Loader(const fs::path& path, LoadControl& control)
      : path_(path),
        control_(control),
        cancel_(&control.cancel),
        parts_(find_parts(path)),
        progress_(control, parts_) {}

  std::shared_ptr<const Timeline> load() {
    if (parts_.size() > 1 && std::ranges::any_of(parts_, [&](const Part& part) { return is_foreign(part.file); }))
      return load_whole();
    offer_preview();
    // Several files at once, or several threads for one.
    const bool several = parts_.size() > 1;
    const int threads_each = several ? 1 : control_.threads;
    parallel_for(parts_.size(), several ? control_.threads : 1, [&](std::size_t i) {
      cancel_.check();
      load_part(i, threads_each);
      load_counters(parts_[i]);
      progress_.set(i, 1, "loaded");
    });
    return join();
  }

 private:
  static std::vector<Part> find_parts(const fs::path& path) {
    refuse_independent_runs(path);
    std::vector<Part> parts;
    for (fs::path& file : trace_files(path)) {
      Part& part = parts.emplace_back();
      std::error_code unknown;
      const auto size = static_cast<double>(fs::file_size(file, unknown));
      if (!unknown) part.weight += size;
      part.file = std::move(file);
    }
    return parts;
  }

  // Runs `work`; false when it failed for any reason but a cancellation.
  template <typename Work>
  bool attempt(Work work) const {
    try {
      return work();
    } catch (const Error&) {
      cancel_.check();
      return false;
    }
  }

  bool is_foreign(const fs::path& file) const {
    return attempt([&] { return !is_trace_database(file) || !TraceFile(file).is_own(); });
  }

  // Foreign files are not each a rank: which they are, and which belong together, is known when all have been read.
  std::shared_ptr<const Timeline> load_whole() {
    double expected = 0;
    for (const Part& part : parts_)
      expected += expected_records(part);
    std::atomic<std::uint64_t> records = 0;
    OpenOptions options;
    options.cancel = &control_.cancel;
    options.spans_only = true;
    options.on_records = [&](std::uint64_t more) {
      progress_.set(0, std::min(1.0, static_cast<double>(records += more) / expected) * kReadShare, "reading");
    };
    const Trace trace = open_trace(path_, options);
    auto timeline = std::make_shared<Timeline>(build_timeline(trace, control_.threads, &control_.cancel));
    for (Part& part : parts_) {
      const std::string name = part.file.filename().string();
      const auto rank = std::ranges::find_if(trace.ranks, [&](const Rank& r) { return r.run.source_file == name; });
      if (rank == trace.ranks.end()) continue;
      const auto process = static_cast<std::uint32_t>(rank - trace.ranks.begin());
      part.timeline.processes = {timeline->processes.at(process)};
      load_counters(part);
      for (CounterSeries& series : part.timeline.counters) {
        series.process = process;
        timeline->counters.push_back(std::move(series));
      }
    }
    std::ranges::stable_sort(timeline->counters, {}, &CounterSeries::process);
    index_grids(*timeline, control_.threads);
    for (std::size_t i = 0; i < parts_.size(); ++i)
      progress_.set(i, 1, "loaded");
    return timeline;
  }

  void offer_preview() {
    std::vector<Timeline> previews;
    for (Part& part : parts_) {
      cancel_.check();
      if (!find_stored(part)) continue;
      Timeline& preview = previews.emplace_back();
      if (!attempt([&] { return preview = part.stored->preview(), true; })) {
        part.stored.reset();
        previews.pop_back();
      }
    }
    if (!control_.on_preview || previews.size() < parts_.size()) return;
    auto preview = std::make_shared<Timeline>(merge_timelines(std::move(previews)));
    preview->path = path_.string();
    control_.on_preview(std::move(preview));
  }

  bool find_stored(Part& part) {
    if (control_.rebuild) return false;
    if (attempt([&] { return is_trace_database(part.file); }) && attempt([&] {
          TimelineFile& own = part.stored.emplace(part.file, &control_.cancel);
          return own.holds(own.event_tables());
        })) {
      return true;
    }
    part.stored.reset();
    if (control_.cache_folder.empty()) return false;
    part.identity = file_identity(part.file);
    const fs::path entry = cache_entry(control_.cache_folder, part.file);
    std::error_code none;
    if (part.identity.empty() || !fs::exists(entry, none)) return false;
    const bool found = attempt([&] { return part.stored.emplace(entry, &control_.cancel).holds(part.identity); });
    if (found) {
      touch_entry(entry);
    } else {
      part.stored.reset();
    }
    return found;
  }

  void load_part(std::size_t i, int threads) {
    Part& part = parts_[i];
    if (part.stored && attempt([&] {
          part.timeline = part.stored->complete(threads, [&](double done) { progress_.set(i, done, "reading"); });
          return true;
        })) {
      part.stored.reset();
      return;
    }
    part.stored.reset();
    try {
      build(i, threads);
    } catch (const Error& error) {
      cancel_.check();
      part.error = error;
    }
  }

  // From the trace itself, whatever the lanes came from: there are few.
  void load_counters(Part& part) const {
    if (part.error || part.timeline.processes.empty() || !attempt([&] { return is_trace_database(part.file); })) return;
    try {
      part.timeline.counters = read_counters(part.file, &control_.cancel);
    } catch (const Error& error) {
      cancel_.check();
      part.timeline.warnings.push_back(fmt::format("sampled values: {} ({})", error.what(), error.cause()));
    }
    for (CounterSeries& series : part.timeline.counters) {
      for (std::int64_t& edge_ns : series.edges_ns)
        edge_ns += part.timeline.processes.front().offset_ns;
    }
  }

  void build(std::size_t i, int threads) {
    Part& part = parts_[i];
    progress_.set(i, 0, "reading");
    const double expected = expected_records(part);
    std::atomic<std::uint64_t> records = 0;
    OpenOptions options;
    options.cancel = &control_.cancel;
    options.spans_only = true;
    options.threads = threads;
    options.on_records = [&](std::uint64_t more) {
      const double fraction = std::min(1.0, static_cast<double>(records += more) / expected);
      progress_.set(i, kReadShare * fraction, "reading");
    };
    const Trace trace = open_trace(part.file, options);
    progress_.set(i, kReadShare, "laying out");
    part.timeline = build_timeline(trace, threads, &control_.cancel);
    progress_.set(i, kLayoutShare, "keeping");
    if (control_.cache_folder.empty() || part.identity.empty() || part.timeline.lanes.empty() || trace.corrupt) return;
    // The file may have changed meanwhile. A cache that cannot be written costs the next time, nothing now.
    if (file_identity(part.file) != part.identity) return;
    attempt([&] {
      keep_timeline(control_.cache_folder, part.file, part.identity, part.timeline, &control_.cancel);
      return true;
    });
  }

  static double expected_records(const Part& part) {
    if (part.file.extension() == ".gz") return 1 + part.weight * kGzipRatio / kBytesPerJsonEvent;
    return 1 + part.weight / (part.file.extension() == ".json" ? kBytesPerJsonEvent : kBytesPerRow);
  }

  std::shared_ptr<const Timeline> join() {
    std::vector<Timeline> timelines;
    std::vector<std::string> warnings;
    for (Part& part : parts_) {
      if (part.error) {
        warnings.push_back(fmt::format("{} ({})", part.error->what(), part.error->cause()));
      } else {
        timelines.push_back(std::move(part.timeline));
      }
    }
    if (timelines.empty()) throw Error(*parts_.front().error);
    const std::size_t files = timelines.size();
    auto timeline = std::make_shared<Timeline>(merge_timelines(std::move(timelines)));
    index_grids(*timeline, control_.threads);
    timeline->path = path_.string();
    if (files > 1) timeline->description = fmt::format("{} files; first: {}", files, timeline->description);
    timeline->warnings.insert(timeline->warnings.end(), warnings.begin(), warnings.end());
    return timeline;
  }

  const fs::path& path_;
  LoadControl& control_;
  CancelCheck cancel_;
  std::vector<Part> parts_;
  Progress progress_;
};

}  // namespace

fs::path timeline_cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return fs::path(cache) / "swinscope";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return fs::path(home) / ".cache" / "swinscope";
  return {};
}

std::shared_ptr<const Timeline> open_timeline(const fs::path& path, LoadControl& control) {
  return Loader(path, control).load();
}

void store_timeline(const fs::path& trace_file, const std::atomic<bool>* cancel) {
  std::error_code none;
  if (fs::file_size(trace_file.string() + "-wal", none) > 0 && !none) return;
  std::string source;
  {
    TimelineFile file(trace_file, cancel);
    source = file.event_tables();
    if (file.holds(source)) return;
  }
  const Timeline timeline = build_timeline(open_trace(trace_file, {cancel, true, {}, {}}), 2, cancel);
  if (timeline.lanes.empty()) return;
  Database db = Database::open_writable(trace_file);
  db.exec(kSchemaSql);  // a file of an older version lacks the tables
  write_timeline(db, timeline, source, cancel);
}

}  // namespace swinscope
