#include "gui/core/bookmarks.h"

#include <gtest/gtest.h>

#include "gui/core/settings.h"
#include "tests/integration/run_program.h"

namespace swinscope::gui {
namespace {

TEST(Bookmarks, AreKeptBesideTheTraceToTheNanosecond) {
  const tests::TemporaryFolder folder;
  const QString trace = QString::fromStdString((folder / "trace.db").string());
  tests::write_file(folder / "trace.db", "content");
  const Bookmark late{QStringLiteral("late"), 9'007'199'254'740'993, 9'007'199'254'740'995};  // no double holds these
  const Bookmark early{QStringLiteral("früh"), -5, 7};
  Bookmarks bookmarks;
  bookmarks.open(trace);
  EXPECT_TRUE(bookmarks.all().empty());
  bookmarks.add(late);
  bookmarks.add(early);
  Bookmarks again;
  again.open(trace);
  EXPECT_EQ(again.all(), (std::vector<Bookmark>{early, late}));
  EXPECT_EQ(again.file(), trace + QStringLiteral(".swinscope-bookmarks.json"));
  EXPECT_EQ(tests::read_file(folder / "trace.db"), "content");
  again.remove(0);
  again.rename(0, QStringLiteral("later"));
  bookmarks.open(trace);
  EXPECT_EQ(bookmarks.all(), (std::vector<Bookmark>{{QStringLiteral("later"), late.begin_ns, late.end_ns}}));
}

TEST(Bookmarks, GoHomeWhereTheFolderCannotBeWritten) {
  Bookmarks bookmarks;
  bookmarks.open(QStringLiteral("/proc/self/trace.db"));
  const Bookmark mark{QStringLiteral("here"), 1, 2};
  bookmarks.add(mark);
  EXPECT_FALSE(bookmarks.file().startsWith(QLatin1String("/proc")));
  Bookmarks again;
  again.open(QStringLiteral("/proc/self/trace.db"));
  EXPECT_EQ(again.all(), std::vector<Bookmark>{mark});
}

TEST(Bookmarks, ADamagedFileCountsAsEmptyAndIsNotLost) {
  const tests::TemporaryFolder folder;
  const std::string damaged = R"({"bookmarks": [{"label": "x", "begin_ns": "9"}, 7)";
  tests::write_file(folder / "trace.db.swinscope-bookmarks.json", damaged);
  Bookmarks bookmarks;
  bookmarks.open(QString::fromStdString((folder / "trace.db").string()));
  EXPECT_TRUE(bookmarks.all().empty());
  const Bookmark mark{QStringLiteral("here"), 1, 2};
  bookmarks.add(mark);
  EXPECT_EQ(tests::read_file(folder / "trace.db.swinscope-bookmarks.json.damaged"), damaged);
  bookmarks.open(QString::fromStdString((folder / "trace.db").string()));
  EXPECT_EQ(bookmarks.all(), std::vector<Bookmark>{mark});
}

TEST(Settings, RecentFilesAreFewAndLatestFirst) {
  Settings settings;
  settings.clear_recent_files();
  for (int i = 0; i < Settings::kRecentFiles + 5; ++i)
    settings.add_recent_file(QStringLiteral("/trace%1.db").arg(i));
  settings.add_recent_file(QStringLiteral("/trace10.db"));
  const QStringList recent = Settings().recent_files();
  EXPECT_EQ(recent.size(), Settings::kRecentFiles);
  EXPECT_EQ(recent[0], QStringLiteral("/trace10.db"));
  EXPECT_EQ(recent[1], QStringLiteral("/trace14.db"));
  EXPECT_EQ(recent.count(QStringLiteral("/trace10.db")), 1);
}

}  // namespace
}  // namespace swinscope::gui
