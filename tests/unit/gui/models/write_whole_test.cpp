#include "gui/core/write_whole.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <csignal>

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace swinscope::gui {
namespace {

QByteArray content_of(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

TEST(WriteWhole, ReplacesWhatWasThere) {
  const QTemporaryDir folder;
  const QString path = folder.filePath(QStringLiteral("chart.svg"));
  EXPECT_FALSE(write_whole(path, "before"));
  EXPECT_FALSE(write_whole(path, "now"));
  EXPECT_EQ(content_of(path), "now");
}

// As on a full disk: a part could be written, the rest could not.
TEST(WriteWhole, WhatCannotBeWrittenToItsEndLeavesTheFileBefore) {
  const QTemporaryDir folder;
  const QString path = folder.filePath(QStringLiteral("chart.svg"));
  ASSERT_FALSE(write_whole(path, "before"));
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{1000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto problem = write_whole(path, QByteArray(100000, 'x'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_TRUE(problem);
  EXPECT_TRUE(problem->what.contains(path));
  EXPECT_FALSE(problem->cause.isEmpty());
  EXPECT_EQ(content_of(path), "before");
  EXPECT_EQ(QDir(folder.path()).entryList(QDir::Files), QStringList{QStringLiteral("chart.svg")});
}

}  // namespace
}  // namespace swinscope::gui
