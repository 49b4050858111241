#include "analyzer/timeline/timeline_file.h"

#include <algorithm>
#include <mutex>
#include <numeric>

#include <fmt/format.h>

#include "analyzer/base/parallel.h"
#include "analyzer/timeline/timeline_codec.h"
#include "store/error.h"
#include "store/span_tables.h"
#include "store/table_reader.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kNameBytesPerPart = std::size_t{1} << 20U;

void write_names(Database& db, const NameTable& names) {
  Statement insert = db.prepare("INSERT INTO SWINSCOPE_TIMELINE_NAMES VALUES(?,?)");
  std::int64_t part = 0;
  for (NameId first = 0; first < names.size();) {
    NameId last = first;
    for (std::size_t bytes = 0; last < names.size() && bytes < kNameBytesPerPart; ++last)
      bytes += names.text(last).size() + 1;
    insert.bind(1, part++);
    insert.bind_blob(2, encode_names(names, first, last));
    insert.run();
    first = last;
  }
}

void write_processes(Database& db, const Timeline& timeline) {
  Statement insert = db.prepare("INSERT INTO SWINSCOPE_TIMELINE_PROCESS VALUES(?,?,?,?,?,?,?,?,?)");
  std::int64_t number = 0;
  for (const TimelineProcess& process : timeline.processes) {
    insert.bind(1, number++);
    insert.bind(2, std::int64_t{process.rank});
    insert.bind(3, std::int64_t{process.world_size});
    insert.bind(4, static_cast<std::int64_t>(process.global_pid));
    insert.bind(5, process.utc_epoch_ns);
    insert.bind(6, process.host);
    insert.bind(7, process.source);
    insert.bind(8, process.steps_how);
    insert.bind_blob(9, encode_intervals(process.steps));
    insert.run();
  }
}

// Returns how many chunks it took.
std::int64_t write_chunks(Statement& insert, const TimelineLane& lane, std::int64_t chunk, const CancelCheck& cancel) {
  std::int64_t chunks = 0;
  for (LanePosition first = 0; first < lane.size();) {
    cancel.check();
    const LanePosition last = first + std::min(kEventsPerChunk, lane.size() - first);
    insert.bind(1, chunk + chunks++);
    insert.bind_blob(2, encode_events(lane, first, last));
    insert.run();
    first = last;
  }
  return chunks;
}

void bind_key(Statement& insert, const LaneKey& key) {
  insert.bind(2, std::int64_t{key.process});
  insert.bind(3, static_cast<std::int64_t>(key.kind));
  insert.bind(4, std::int64_t{key.device});
  insert.bind(5, std::int64_t{key.context});
  insert.bind(6, std::int64_t{key.stream});
  insert.bind(7, static_cast<std::int64_t>(key.global_tid));
  insert.bind(8, std::int64_t{key.domain});
  insert.bind(9, std::int64_t{key.depth});
  insert.bind(10, std::int64_t{key.sublane});
}

void write_lanes(Database& db, const Timeline& timeline, const CancelCheck& cancel) {
  Statement insert = db.prepare("INSERT INTO SWINSCOPE_TIMELINE_LANE VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  Statement insert_chunk = db.prepare("INSERT INTO SWINSCOPE_TIMELINE_CHUNK VALUES(?,?)");
  const Timeline preview = make_preview(timeline);
  std::int64_t chunk = 0;
  for (LaneId id = 0; id < timeline.lanes.size(); ++id) {
    const TimelineLane& lane = timeline.lanes[id];
    const std::int64_t chunks = write_chunks(insert_chunk, lane, chunk, cancel);
    const TimelineLane& coarse = preview.lanes[id];
    insert.bind(1, std::int64_t{id});
    bind_key(insert, lane.key);
    insert.bind(11, lane.label);
    insert.bind(12, std::int64_t{lane.size()});
    insert.bind(13, chunk);
    insert.bind(14, chunks);
    insert.bind_blob(15, coarse.size() < lane.size() ? encode_events(coarse, 0, coarse.size()) : std::string());
    insert.run();
    chunk += chunks;
  }
}

}  // namespace

void write_timeline(Database& db, const Timeline& timeline, std::string_view source, const std::atomic<bool>* cancel) {
  const CancelCheck check(cancel);
  Transaction transaction(db);
  db.exec(
      "DELETE FROM SWINSCOPE_TIMELINE; DELETE FROM SWINSCOPE_TIMELINE_PROCESS; DELETE FROM SWINSCOPE_TIMELINE_NAMES;"
      "DELETE FROM SWINSCOPE_TIMELINE_LANE; DELETE FROM SWINSCOPE_TIMELINE_CHUNK");
  Statement insert = db.prepare("INSERT INTO SWINSCOPE_TIMELINE VALUES(?,?,?)");
  insert.bind(1, std::int64_t{kTimelineVersion});
  insert.bind(2, source);
  insert.bind(3, timeline.description);
  insert.run();
  write_names(db, timeline.names);
  write_processes(db, timeline);
  write_lanes(db, timeline, check);
  transaction.commit();
}

std::string event_tables(Database& db) {
  std::string rows;
  for (const char* table : span_tables()) {
    if (!db.has_table(table)) continue;
    Statement last = db.prepare(fmt::format("SELECT max(rowid) FROM {}", table));
    rows += fmt::format("{}{} {}", rows.empty() ? "" : ", ", last.step() ? last.integer(0) : 0, table);
  }
  return rows;
}

TimelineFile::TimelineFile(fs::path path, const std::atomic<bool>* cancel)
    : path_(std::move(path)), cancel_(cancel), db_(Database::open_untrusted(path_, {cancel})) {
  std::error_code none;
  file_size_ = fs::file_size(path_, none);
  if (none) file_size_ = 0;
}

bool TimelineFile::holds(std::string_view source) {
  TableReader rows(db_, "SWINSCOPE_TIMELINE", {"version", "source", "description"}, 3);
  if (!rows.missing_column().empty() || !rows.next()) return false;
  if (rows.integer<int>(0) != kTimelineVersion || rows.text(1) != source) return false;
  shell_.description = rows.text(2);
  return true;
}

void TimelineFile::damaged(const char* what) const {
  throw Error(ErrorKind::kInput, fmt::format("{}: its timeline is damaged", path_.string()), what);
}

void TimelineFile::read_names() {
  TableReader rows(db_, "SWINSCOPE_TIMELINE_NAMES", {"data"}, 1);
  while (rows.next()) {
    if (!decode_names(rows.blob(0), shell_.names)) damaged("a name is cut off");
  }
}

void TimelineFile::read_processes() {
  TableReader rows(db_, "SWINSCOPE_TIMELINE_PROCESS",
                   {"rank", "worldSize", "globalPid", "utcEpochNs", "host", "source", "stepsHow", "steps"}, 8);
  while (rows.next()) {
    TimelineProcess process;
    process.rank = rows.integer<std::int32_t>(0);
    process.world_size = rows.integer<std::int32_t>(1);
    process.global_pid = rows.integer<std::uint64_t>(2);
    process.utc_epoch_ns = rows.integer<std::int64_t>(3);
    process.host = rows.text(4);
    process.source = rows.text(5);
    process.steps_how = rows.text(6);
    if (!decode_intervals(rows.blob(7), process.steps)) damaged("a step has no end");
    shell_.processes.push_back(std::move(process));
  }
}

// Fills lanes_ and returns what stands for them in the first picture.
std::vector<TimelineLane> TimelineFile::read_lanes() {
  std::vector<TimelineLane> previews;
  TableReader rows(db_, "SWINSCOPE_TIMELINE_LANE",
                   {"process", "kind", "deviceId", "contextId", "streamId", "globalTid", "domainId", "depth", "sublane",
                    "label", "events", "firstChunk", "chunks", "preview"},
                   14);
  while (rows.next()) {
    StoredLane stored;
    LaneKey& key = stored.head.key;
    const auto process = rows.integer<std::uint64_t>(0);
    const auto kind = rows.integer<std::int32_t>(1);
    if (process >= shell_.processes.size() || kind < 0 || kind >= kLaneKinds) damaged("a lane has no owner");
    key.process = static_cast<std::uint32_t>(process);
    key.kind = static_cast<LaneKind>(kind);
    key.device = rows.integer<std::int32_t>(2);
    key.context = rows.integer<std::uint32_t>(3);
    key.stream = rows.integer<std::uint32_t>(4);
    key.global_tid = rows.integer<std::uint64_t>(5);
    key.domain = rows.integer<std::uint32_t>(6);
    key.depth = rows.integer<std::uint16_t>(7);
    key.sublane = rows.integer<std::uint32_t>(8);
    stored.head.label = rows.text(9);
    stored.events = rows.integer<std::uint64_t>(10);
    stored.first_chunk = rows.integer<std::int64_t>(11);
    stored.chunks = rows.integer<std::int64_t>(12);
    TimelineLane preview = stored.head;
    const std::string_view coarse = rows.blob(13);
    if (coarse.empty()) {
      preview = read_events(db_, stored);
    } else if (!decode_events(coarse, shell_.names.size(), preview) || preview.empty()) {
      damaged("a lane has no preview");
    } else {
      preview.seal();
    }
    previews.push_back(std::move(preview));
    lanes_.push_back(std::move(stored));
  }
  return previews;
}

TimelineLane TimelineFile::read_events(Database& db, const StoredLane& stored) const {
  if (stored.events == 0 || stored.first_chunk < 0 || stored.chunks < 0 ||
      stored.first_chunk > std::numeric_limits<std::int64_t>::max() - stored.chunks) {
    damaged("a lane has no events");
  }
  TimelineLane lane = stored.head;
  // An event takes at least 4 bytes of the file: what the row claims beyond that is not believed.
  lane.reserve(std::min<std::uint64_t>(stored.events, file_size_ / 4));
  Statement chunks =
      db.prepare("SELECT data FROM SWINSCOPE_TIMELINE_CHUNK WHERE chunk >= ? AND chunk < ? ORDER BY chunk");
  chunks.bind(1, stored.first_chunk);
  chunks.bind(2, stored.first_chunk + stored.chunks);
  const CancelCheck cancel(cancel_);
  while (chunks.step()) {
    cancel.check();
    if (!decode_events(chunks.blob(0), shell_.names.size(), lane)) damaged("a chunk of events cannot be read");
  }
  if (lane.size() != stored.events) damaged("a lane lacks events");
  lane.seal();
  return lane;
}

Timeline TimelineFile::preview() {
  if (!db_.has_table("SWINSCOPE_TIMELINE_CHUNK")) damaged("it has no events");
  read_names();
  read_processes();
  std::vector<TimelineLane> lanes = read_lanes();
  Timeline preview = shell_;
  preview.preview = true;
  preview.lanes = std::move(lanes);
  return preview;
}

// So that no thread begins with the longest lane when the others are done.
std::vector<std::size_t> TimelineFile::largest_first() const {
  std::vector<std::size_t> order(lanes_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return lanes_[i].events; });
  return order;
}

Timeline TimelineFile::complete(int threads, const std::function<void(double)>& on_progress) {
  Timeline timeline = shell_;
  timeline.lanes.resize(lanes_.size());
  const std::vector<std::size_t> order = largest_first();
  const double total = std::accumulate(lanes_.begin(), lanes_.end(), 1.0, [](double sum, const StoredLane& lane) {
    return sum + static_cast<double>(lane.events);
  });
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  double done = 0;
  const auto readers = static_cast<std::size_t>(std::max(threads, 1));
  parallel_for(readers, threads, [&](std::size_t) {
    // A connection for each thread: they read at the same time.
    Database db = Database::open_untrusted(path_, {cancel_});
    for (std::size_t i = next++; i < order.size(); i = next++) {
      const StoredLane& stored = lanes_[order[i]];
      timeline.lanes[order[i]] = read_events(db, stored);
      const std::lock_guard lock(mutex);
      done += static_cast<double>(stored.events);
      if (on_progress) on_progress(done / total);
    }
  });
  return timeline;
}

}  // namespace swinscope
