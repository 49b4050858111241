// From a file to the timeline: what it carries, what the cache keeps, and how a load is steered.
#include "analyzer/timeline/timeline_open.h"

#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "analyzer/importers/open.h"
#include "analyzer/timeline/timeline_cache.h"
#include "analyzer/timeline/timeline_file.h"
#include "store/error.h"
#include "store/writer.h"
#include "tests/unit/analyzer/random_trace.h"
#include "tests/unit/analyzer/support.h"

namespace swinscope {
namespace {

namespace fs = std::filesystem;
using test::add_random_process;
using test::describe;
using test::Dice;
using test::TempFolder;

// Writes each process into a file of its own.
class FileSink : public TraceSink {
 public:
  explicit FileSink(const fs::path& path) : writer_(path, WriteMode::kImport) {}
  RecordSink& add_process() override { return writer_; }
  void remove_last_process() override {}
  void finish() { writer_.finish(); }

 private:
  TraceWriter writer_;
};

void write_rank(const fs::path& path, unsigned seed, int launches, std::int32_t rank = 0, std::int64_t epoch = 1) {
  FileSink sink(path);
  add_random_process(sink, seed, launches, rank, epoch);
  sink.finish();
}

class OpenTimeline : public testing::Test {
 protected:
  struct Loaded {
    std::shared_ptr<const Timeline> timeline;
    bool had_preview = false;
    std::vector<double> progress;
  };

  Loaded open(const fs::path& path) const {
    Loaded loaded;
    LoadControl control;
    control.cache_folder = cache_;
    control.on_preview = [&](const std::shared_ptr<const Timeline>& preview) {
      EXPECT_TRUE(preview->preview);
      EXPECT_FALSE(loaded.had_preview) << "twice";
      loaded.had_preview = true;
    };
    control.on_progress = [&](double fraction, std::string_view phase) {
      EXPECT_FALSE(phase.empty());
      loaded.progress.push_back(fraction);
    };
    loaded.timeline = open_timeline(path, control);
    return loaded;
  }
  std::size_t cached() const { return fs::exists(cache_) ? test::names_in(cache_).size() : 0; }
  fs::path entry(const fs::path& file) const { return cache_entry(cache_, file); }

  TempFolder folder_;
  fs::path cache_ = folder_ / "cache";
  fs::path file_ = folder_ / "rank0.db";
};

TEST_F(OpenTimeline, ShowsWhatTheTraceViewHas) {
  write_rank(file_, 1, 2'000);
  EXPECT_EQ(describe(*open(file_).timeline), describe(build_timeline(open_trace(file_))));
}

TEST_F(OpenTimeline, AFinishedFileCarriesItsTimeline) {
  write_rank(file_, 1, 2'000);
  store_timeline(file_);
  const Loaded loaded = open(file_);
  EXPECT_TRUE(loaded.had_preview);
  EXPECT_EQ(cached(), 0U);
  EXPECT_EQ(describe(*loaded.timeline), describe(build_timeline(open_trace(file_))));
  // A second time changes nothing.
  const std::string bytes = test::read_file(file_);
  store_timeline(file_);
  EXPECT_EQ(test::read_file(file_), bytes);
}

TEST_F(OpenTimeline, AStoredTimelineOfFewerEventsIsNotUsed) {
  write_rank(file_, 1, 100);
  store_timeline(file_);
  Database::open_writable(file_).exec("INSERT INTO NVTX_EVENTS SELECT * FROM NVTX_EVENTS LIMIT 1");
  const Loaded loaded = open(file_);
  EXPECT_FALSE(loaded.had_preview);
  EXPECT_EQ(loaded.timeline->event_count(), 301U);
}

TEST_F(OpenTimeline, ADamagedStoredTimelineIsAsGoodAsNone) {
  write_rank(file_, 1, 100);
  store_timeline(file_);
  const std::string expected = test::describe(*open(file_).timeline).back();
  Database::open_writable(file_).exec("UPDATE SWINSCOPE_TIMELINE_CHUNK SET data = x'00ff'");
  const Loaded loaded = open(file_);
  EXPECT_FALSE(loaded.had_preview);
  EXPECT_EQ(describe(*loaded.timeline).back(), expected);
}

TEST_F(OpenTimeline, KeepsForeignFilesInTheCache) {
  const fs::path kineto = folder_ / "trace.json";
  test::write_file(kineto, test::kineto_document(test::launch_event(1, 10, 5) + ",\n" + test::kernel_event(1, 20, 8)));
  const Loaded first = open(kineto);
  EXPECT_FALSE(first.had_preview);
  EXPECT_EQ(cached(), 1U);
  const Loaded second = open(kineto);
  EXPECT_TRUE(second.had_preview);
  EXPECT_EQ(first.timeline->event_count(), 2U);
  EXPECT_EQ(describe(*second.timeline), describe(*first.timeline));
}

TEST_F(OpenTimeline, AChangedFileIsReadAgain) {
  const fs::path kineto = folder_ / "trace.json";
  test::write_file(kineto, test::kineto_document(test::kernel_event(1, 20, 8)));
  open(kineto);
  test::write_file(kineto, test::kineto_document(test::kernel_event(1, 20, 8) + ",\n" + test::kernel_event(2, 40, 8)));
  EXPECT_EQ(open(kineto).timeline->event_count(), 2U);
  EXPECT_EQ(open(kineto).timeline->event_count(), 2U);
  EXPECT_EQ(cached(), 1U);
}

TEST_F(OpenTimeline, AFileOfTheSameSizeAndTimeIsReadAgainWhenItsHeadDiffers) {
  const fs::path kineto = folder_ / "trace.json";
  test::write_file(kineto, test::kineto_document(test::kernel_event(1, 20, 8)));
  const auto time = fs::last_write_time(kineto);
  open(kineto);
  test::write_file(kineto, test::kineto_document(test::kernel_event(1, 30, 9)));
  fs::last_write_time(kineto, time);
  EXPECT_EQ(open(kineto).timeline->lanes.at(0).duration_ns(0), 9'000);
}

TEST_F(OpenTimeline, AWrongCacheEntryIsReplaced) {
  write_rank(file_, 1, 100);
  const auto expected = describe(*open(file_).timeline);
  const std::string good = test::read_file(entry(file_));
  Dice dice(1);
  std::vector<std::string> wrongs = {"", "nonsense", good.substr(0, good.size() / 2), good.substr(0, 100)};
  for (int i = 0; i < 20; ++i) {
    wrongs.push_back(good);
    for (int k = 0; k < 200; ++k)
      wrongs.back()[static_cast<std::size_t>(dice.between(0, 4'000))] = static_cast<char>(dice.between(0, 255));
  }
  for (const std::string& wrong : wrongs) {
    test::write_file(entry(file_), wrong);
    EXPECT_EQ(describe(*open(file_).timeline), expected);
    EXPECT_TRUE(open(file_).had_preview);
  }
  EXPECT_EQ(cached(), 1U);
}

TEST_F(OpenTimeline, WorksWithoutACache) {
  write_rank(file_, 1, 50);
  cache_.clear();
  EXPECT_EQ(open(file_).timeline->event_count(), 150U);
  cache_ = file_;  // no folder
  EXPECT_EQ(open(file_).timeline->event_count(), 150U);
}

TEST_F(OpenTimeline, PutsTheRanksOfAFolderOnOneAxis) {
  const fs::path run = folder_ / "run";
  fs::create_directory(run);
  write_rank(run / "rank0.db", 1, 300, 0, 5'000'000'000);
  write_rank(run / "rank1.db", 2, 300, 1, 5'000'400'000);
  store_timeline(run / "rank0.db");
  store_timeline(run / "rank1.db");
  const Loaded loaded = open(run);
  EXPECT_TRUE(loaded.had_preview);
  EXPECT_EQ(describe(*loaded.timeline), describe(build_timeline(open_trace(run))));
  EXPECT_EQ(loaded.timeline->processes.at(1).offset_ns, 400'000);
}

TEST_F(OpenTimeline, KnowsTheContentOfPixelsBeforehand) {
  const fs::path run = folder_ / "run";
  fs::create_directory(run);
  write_rank(run / "rank0.db", 30, 400, 0, 5'000);
  write_rank(run / "rank1.db", 31, 400, 1, 9'000);  // moved in time after it was read
  const Loaded loaded = open(run);
  for (const TimelineLane& lane : loaded.timeline->lanes) {
    int shift = 0;
    while (shift < 62 && !lane.grid().has(shift))
      ++shift;
    if (lane.size() < 100) continue;
    ASSERT_LT(shift, 62) << lane.label;
    const std::int64_t cell_ns = std::int64_t{1} << shift;
    const std::int64_t begin = (lane.begin_ns() >> shift) * cell_ns;
    const std::vector<std::int64_t> borders{begin, begin + cell_ns, begin + 3 * cell_ns};
    std::vector<Occupancy> seen(2);
    lane.grid().occupancies(shift, borders, seen);
    EXPECT_EQ(seen[0], lane.occupancy(borders[0], borders[1]));
    EXPECT_EQ(seen[1], lane.occupancy(borders[1], borders[2]));
  }
}

TEST_F(OpenTimeline, SaysWhichFileOfAFolderCannotBeRead) {
  const fs::path run = folder_ / "run";
  fs::create_directory(run);
  write_rank(run / "rank0.db", 1, 30);
  test::write_file(run / "rank1.db", "not a trace at all, but long enough");
  const Loaded loaded = open(run);
  EXPECT_EQ(loaded.timeline->event_count(), 90U);
  ASSERT_EQ(loaded.timeline->warnings.size(), 1U);
  EXPECT_NE(loaded.timeline->warnings[0].find("rank1.db"), std::string::npos);
}

TEST_F(OpenTimeline, OfNoTraceSaysWhatIsWrong) {
  LoadControl control;
  EXPECT_THROW(open_timeline(folder_ / "none", control), Error);
  test::write_file(file_, "nonsense");
  EXPECT_THROW(open_timeline(file_, control), Error);
}

TEST_F(OpenTimeline, ProgressGoesFromZeroToOne) {
  write_rank(file_, 1, 30'000);
  for (int round = 0; round < 2; ++round) {
    const Loaded loaded = open(file_);
    ASSERT_GT(loaded.progress.size(), 1U);
    EXPECT_TRUE(std::ranges::is_sorted(loaded.progress));
    EXPECT_EQ(loaded.progress.back(), 1);
  }
}

// At every moment at which progress is reported, and from another thread.
TEST_F(OpenTimeline, CanBeCancelledAtAnyMoment) {
  write_rank(file_, 1, 30'000);
  for (int stored = 0; stored < 2; ++stored) {
    int cancelled = 0;
    for (int moment = 0; moment < 6; ++moment) {
      LoadControl control;
      control.cache_folder = stored == 0 ? fs::path() : cache_;
      int reports = 0;
      control.on_progress = [&](double, std::string_view) {
        if (reports++ == moment) control.cancel = true;
      };
      try {
        open_timeline(file_, control);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kInterrupted);
        ++cancelled;
      }
    }
    EXPECT_GT(cancelled, 0);
    // Nothing half done is left.
    EXPECT_EQ(cached(), stored == 0 ? 0U : cached());
    open(file_);
    EXPECT_EQ(cached(), 1U);
  }
}

TEST_F(OpenTimeline, CanBeCancelledByAnotherThread) {
  write_rank(file_, 1, 30'000);
  LoadControl control;
  control.cache_folder.clear();
  std::atomic<bool> reading = false;
  control.on_progress = [&](double, std::string_view) {
    reading = true;
    reading.notify_one();
    // Goes on only when the other thread has cancelled.
    control.cancel.wait(false);
  };
  std::thread user([&] {
    reading.wait(false);
    control.cancel = true;
    control.cancel.notify_one();
  });
  EXPECT_THROW(open_timeline(file_, control), Error);
  user.join();
}

}  // namespace
}  // namespace swinscope
