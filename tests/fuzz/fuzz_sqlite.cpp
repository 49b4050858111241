// TraceFile, and TimelineFile, on SQLite files. An input is either such a file or SQL that makes one; the mutator turns
// the second into the first, so the seeds are readable text and both the b-trees and the values of the rows are fuzzed.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include <sqlite3.h>

#include "analyzer/timeline/timeline_file.h"
#include "tests/fuzz/support.h"

// Weak: absent where the corpus is only replayed.
extern "C" __attribute__((weak)) std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size,
                                                              std::size_t max_size);

namespace swinscope::fuzz {
namespace {

constexpr std::string_view kMagic("SQLite format 3\0", 16);

// Statements of the fuzzer must not reach beyond their database.
int authorize(void*, int action, const char* first, const char*, const char*, const char*) {
  if (action == SQLITE_ATTACH || action == SQLITE_DETACH) return SQLITE_DENY;
  if (action == SQLITE_PRAGMA) {
    for (const char* harmless : {"page_size", "encoding", "writable_schema", "user_version"}) {
      if (sqlite3_stricmp(first, harmless) == 0) return SQLITE_OK;
    }
    return SQLITE_DENY;
  }
  return SQLITE_OK;
}

// The database that some SQL makes, as far as it can be executed.
std::string compile(std::string_view sql) {
  sqlite3* db = nullptr;
  expect(sqlite3_open(":memory:", &db) == SQLITE_OK, "a database in memory can be opened");
  sqlite3_exec(db, "PRAGMA page_size=512; PRAGMA max_page_count=400", nullptr, nullptr, nullptr);
  sqlite3_set_authorizer(db, authorize, nullptr);
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 100'000);
  int steps = 0;
  sqlite3_progress_handler(
      db, 1000, [](void* count) { return ++*static_cast<int*>(count) > 100 ? 1 : 0; }, &steps);
  // One statement after the other: one that fails does not stop the rest.
  const std::string text(sql);
  for (const char* rest = text.c_str(); *rest != '\0';) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(db, rest, -1, &statement, &rest) == SQLITE_OK && statement != nullptr) {
      while (sqlite3_step(statement) == SQLITE_ROW)
        continue;
    } else {
      const char* end = std::strchr(rest, ';');
      rest = end == nullptr ? "" : end + 1;
    }
    sqlite3_finalize(statement);
  }
  sqlite3_int64 size = 0;
  unsigned char* image = sqlite3_serialize(db, "main", &size, 0);
  std::string bytes;
  if (image != nullptr) bytes.assign(reinterpret_cast<const char*>(image), static_cast<std::size_t>(size));
  sqlite3_free(image);
  sqlite3_close(db);
  return bytes;
}

void write(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The timeline that a file carries, whatever it says that it was made from.
void check_timeline(const std::filesystem::path& path) {
  try {
    TimelineFile file(path, nullptr);
    if (!file.holds(file.event_tables())) return;
    const Timeline preview = file.preview();
    const Timeline timeline = file.complete(1, {});
    expect(preview.lanes.size() == timeline.lanes.size(), "the preview has the same lanes");
    for (const TimelineLane& lane : timeline.lanes) {
      expect(!lane.empty() && lane.key.process < timeline.processes.size(), "a lane has events and an owner");
      for (LanePosition i = 1; i < lane.size(); ++i)
        expect(lane.event_end_ns(i - 1) <= lane.start_ns(i), "the events of a lane do not overlap");
    }
    make_preview(timeline);
  } catch (const Error&) {
    // The file's fault, or that of a table that is none: the timeline is then built from the events.
  }
}

}  // namespace
}  // namespace swinscope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace swinscope;
  using namespace swinscope::fuzz;
  static const MemoryFolder folder;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const bool is_file = input.substr(0, kMagic.size()) == kMagic;
  const std::string bytes = is_file ? std::string(input) : compile(input);
  const auto path = folder.path() / "input.db";
  write(path, bytes);

  check_timeline(path);
  Trace trace;
  try {
    TraceFile file(path);
    TraceBuilder builder;
    file.read(builder);
    builder.move_into(trace);
  } catch (const Error& error) {
    expect_input_error(error);
    expect(contents(path) == bytes, "the file stays as it is");
    return 0;
  }
  check(trace);
  expect(contents(path) == bytes, "the file stays as it is");
  // Storing costs a hundred times as much: some inputs must do. What a file of ours says of itself (its source, that it
  // was cut off) is not stored again as it is.
  if (size % 16 != 0 || trace.ranks.empty() || trace.ranks[0].run.source != "nsys") return 0;
  FileSink files(folder.path());
  TraceFile(path).read(files);
  expect_same_view(trace, files.read_back());
  return 0;
}

extern "C" __attribute__((used)) std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                                                     std::size_t max_size, unsigned seed) {
  using namespace swinscope::fuzz;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (seed % 8 == 0 && input.substr(0, kMagic.size()) != kMagic) {
    const std::string bytes = compile(input);
    if (bytes.size() <= max_size) {
      std::copy(bytes.begin(), bytes.end(), data);
      size = bytes.size();
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}
