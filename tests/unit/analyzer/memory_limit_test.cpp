// Reading ends before memory does, whoever's limit that is.
#include "analyzer/base/memory_limit.h"

#include "analyzer/importers/open.h"
#include "tests/unit/analyzer/support.h"

namespace swinscope::test {
namespace {

constexpr std::uint64_t kGib = std::uint64_t{1} << 30U;

class Available : public testing::Test {
 protected:
  void file(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    write_file(root_ / name, text);
  }
  std::uint64_t available() const { return available_memory(root_.path()); }

  TempFolder root_;
};

TEST_F(Available, IsTheLeastThatAnyoneSays) {
  file("proc/meminfo", "MemTotal: 9437184 kB\nMemAvailable:    8388608 kB\nMemAvailableElse: 1 kB\n");
  EXPECT_EQ(available(), 8 * kGib);
  file("proc/self/cgroup", "0::/slice/job\n");
  EXPECT_EQ(available(), 8 * kGib);
  file("sys/fs/cgroup/slice/memory.max", "4294967296\n");
  file("sys/fs/cgroup/slice/memory.current", "3221225472\n");
  file("sys/fs/cgroup/slice/memory.stat", "anon 5\ninactive_file 1073741824\nactive_file 1073741824\n");
  EXPECT_EQ(available(), 3 * kGib) << "files in memory make room";
  file("sys/fs/cgroup/slice/job/memory.max", "max\n");
  file("sys/fs/cgroup/slice/job/memory.current", "1\n");
  EXPECT_EQ(available(), 3 * kGib);
  file("sys/fs/cgroup/slice/job/memory.max", "1073741824\n");
  file("sys/fs/cgroup/slice/job/memory.current", "2073741824\n");
  EXPECT_EQ(available(), 0U);
}

TEST_F(Available, CgroupsOfTheFirstVersion) {
  file("proc/meminfo", "MemAvailable: 8388608 kB\n");
  file("proc/self/cgroup", "4:cpu,cpuacct:/batch\n3:memory:/batch\n1:name=systemd:/x\n");
  file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  file("sys/fs/cgroup/memory/memory.usage_in_bytes", "100\n");
  EXPECT_EQ(available(), 8 * kGib);
  file("sys/fs/cgroup/memory/batch/memory.limit_in_bytes", "3221225472\n");
  file("sys/fs/cgroup/memory/batch/memory.usage_in_bytes", "2147483648\n");
  file("sys/fs/cgroup/memory/batch/memory.stat", "inactive_file 7\ntotal_inactive_file 1073741824\n");
  EXPECT_EQ(available(), 2 * kGib);
}

TEST_F(Available, WhereNothingTellsThereIsNoLimit) { EXPECT_EQ(available(), std::uint64_t{1} << 63U); }

TEST(MemoryLimit, SaysHowMuchAndWhy) {
  EXPECT_GT(memory_in_use(), 0U);
  MemoryLimit(memory_in_use() + kGib).check("a.json");
  MemoryLimit().check("a.json");
  const auto error = error_of([] { MemoryLimit(3U << 19U).check("a.json"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kFailure);
  EXPECT_STREQ(error->what(), "a.json: too large for the memory of this machine");
  EXPECT_NE(error->cause().find("more than 1.500 MiB by now; a quarter of"), std::string::npos) << error->cause();
  EXPECT_NE(error->hint(), "");
}

// Of every format, and whether the events are many or their names are long.
class TooLarge : public testing::Test {
 protected:
  std::string refusal(const fs::path& path, int threads = 1) const {
    OpenOptions options;
    options.memory = MemoryLimit(1);
    options.threads = threads;
    options.bytes_per_thread = 1;
    const auto error = error_of([&] { open_trace(path, options); });
    return error ? error->what() : "";
  }
  fs::path add(std::string_view name, const std::string& text) const {
    write_file(folder_ / name, text);
    return folder_ / name;
  }
  static std::string events(int count) {
    std::string text = launch_event(1, 1, 1);
    for (int i = 0; i < count; ++i)
      text += fmt::format(R"(,{{"ph":"X","cat":"cpu_op","name":"a","pid":10,"tid":11,"ts":{},"dur":1}})", i);
    return kineto_document(text);
  }

  TempFolder folder_;
};

TEST_F(TooLarge, EndsTheReading) {
  const auto large = [](const fs::path& path) { return path.string() + ": too large for the memory of this machine"; };
  const fs::path many = add("many.json", events(4'200));
  EXPECT_EQ(refusal(many), large(many));
  const fs::path rows = make_database(
      folder_ / "rows.sqlite",
      "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT); CREATE TABLE NVTX_EVENTS(start INTEGER, end "
      "INTEGER, "
      "eventType INTEGER, text TEXT, globalTid INTEGER, domainId INTEGER);"
      "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) INSERT INTO NVTX_EVENTS SELECT "
      "i, i + 1, 59, 'a', 281474976710657, 0 FROM n;");
  EXPECT_EQ(refusal(rows), large(rows));
  EXPECT_EQ(refusal(rows, 2), large(rows)) << "in parts";
  const fs::path names = add(
      "names.json",
      kineto_document(launch_event(1, 1, 1) + "," + kernel_event(1, 2, 1, std::string(std::size_t{5} << 20U, 'n'))));
  EXPECT_EQ(refusal(names), large(names));
}

TEST_F(TooLarge, OneFileOfAFolderIsTooMuch) {
  const fs::path many = add("rank0.json", events(4'200));
  add("rank1.json", events(1));
  EXPECT_EQ(refusal(folder_.path()), many.string() + ": too large for the memory of this machine");
}

}  // namespace
}  // namespace swinscope::test
