// What experiment.json and point.json may name, and what of it is followed.
#include "analyzer/importers/named_path.h"

#include <sys/stat.h>

#include "analyzer/experiment/comparison.h"
#include "analyzer/experiment/experiment.h"
#include "analyzer/importers/open.h"
#include "tests/unit/analyzer/support.h"

namespace swinscope::test {
namespace {

class NamedPath : public testing::Test {
 protected:
  NamedPath() {
    fs::create_directories(folder_ / "e/gpus1/timing1");
    fs::create_directories(folder_ / "elsewhere");
    write_file(folder_ / "elsewhere/rank0.json", kineto_document(launch_event(1, 1, 1)));
  }
  fs::path file() const { return folder_ / "e/gpus1/point.json"; }
  std::optional<Error> refusal(const std::string& name, const OwnLinks& own = {}) const {
    return error_of([&] { named_path(file(), name, own); });
  }
  // A link in the point, and what is told of it.
  fs::path link(const std::string& name, const fs::path& to) const {
    fs::create_symlink(to, folder_ / "e/gpus1" / name);
    return folder_ / "e/gpus1" / name;
  }
  std::string elsewhere() const { return (folder_ / "elsewhere").string(); }

  TempFolder folder_;
};

TEST_F(NamedPath, NamesBelowTheFolderAreFollowed) {
  EXPECT_EQ(named_path(file(), "timing1", {}), folder_ / "e/gpus1/timing1");
  EXPECT_EQ(named_path(file(), "not/there", {}), folder_ / "e/gpus1/not/there");
  EXPECT_FALSE(refusal("."));
}

TEST_F(NamedPath, NamesThatLeadOutAreRefused) {
  for (const std::string& name : {elsewhere(), std::string("/etc"), std::string("../../elsewhere"), std::string(".."),
                                  std::string("timing1/../../../elsewhere")}) {
    const auto error = refusal(name);
    ASSERT_TRUE(error) << name;
    EXPECT_EQ(error->kind(), ErrorKind::kInput);
    EXPECT_EQ(error->what(), file().string() + ": cannot be read");
    EXPECT_EQ(error->cause(), fmt::format("its entry \"{}\" {}", name,
                                          name[0] == '/' ? "is an absolute path" : "leads out of its folder"));
    EXPECT_NE(error->hint().find("swinscope join"), std::string::npos);
  }
}

TEST_F(NamedPath, OnlyOnesOwnLinksLeadOut) {
  const fs::path out = link("tracing", elsewhere());
  const auto error = refusal("tracing");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->cause(),
            fmt::format("its entry \"tracing\" is a link to {}, and none that `swinscope join` made here",
                        fs::canonical(elsewhere()).string()));
  EXPECT_TRUE(refusal("tracing/rank0.json"));
  EXPECT_TRUE(refusal("tracing", {{"tracing", ""}}));
  const OwnLinks own = {{"tracing", link_mark(out)}};
  EXPECT_FALSE(refusal("tracing", own));
  EXPECT_FALSE(refusal("tracing/rank0.json", own));

  // From there on, nothing leads out again; and the same link made once more is another one.
  fs::create_symlink(folder_.path(), folder_ / "elsewhere/up");
  EXPECT_TRUE(refusal("tracing/up", own));
  fs::remove(out);
  link("tracing", elsewhere());
  EXPECT_TRUE(refusal("tracing", own));
  EXPECT_EQ(link_mark(folder_ / "e"), "") << "a folder";
  EXPECT_EQ(link_mark(folder_ / "none"), "");
}

TEST_F(NamedPath, LinksWithinTheExperimentAreFollowed) {
  fs::create_directories(folder_ / "e/runs/one");
  link("tracing", "../runs/one");
  EXPECT_TRUE(refusal("tracing")) << "there is no experiment";
  write_file(folder_ / "e/experiment.json", "{}");
  EXPECT_FALSE(refusal("tracing"));
  link("circle", "circle");
  EXPECT_FALSE(refusal("circle")) << "leads nowhere";
}

// Every reader of these files, not only the one of whole experiments.
TEST_F(NamedPath, NoReaderLeavesTheFolder) {
  const auto write_both = [&](const std::string& points, const std::string& tracing) {
    write_file(folder_ / "e/experiment.json",
               fmt::format(R"({{"schema": "swinscope.experiment/1", "points": ["{}"]}})", points));
    write_file(file(), fmt::format(R"({{"schema": "swinscope.point/1", "tracing": "{}"}})", tracing));
  };
  const auto refused = [&](const fs::path& path) {
    return error_of([&] { open_trace(path); }).has_value() && error_of([&] { read_experiment(path); }).has_value();
  };
  write_both("gpus1", elsewhere());
  EXPECT_TRUE(refused(folder_ / "e"));
  EXPECT_TRUE(error_of([&] { open_trace(folder_ / "e/gpus1"); }));
  EXPECT_TRUE(error_of([&] { read_point(folder_ / "e/gpus1"); }));
  write_both("../e/gpus1", "timing1");
  EXPECT_TRUE(refused(folder_ / "e"));
  link("profile", elsewhere());
  EXPECT_TRUE(error_of([&] { read_point(folder_ / "e/gpus1"); })) << "its name is written nowhere";
}

// What lies in the folder of a run has no entry that names it: links there lead out only where the user follows them.
TEST_F(NamedPath, LinksInTheFolderOfARunStayThere) {
  const fs::path run = folder_ / "e/gpus1/timing1";
  fs::create_directories(run / "kept");
  fs::rename(folder_ / "elsewhere/rank0.json", folder_ / "elsewhere/secret");
  write_file(run / "kept/real", kineto_document(launch_event(1, 1, 1)));
  fs::create_symlink("kept/real", run / "rank0.json");
  EXPECT_EQ(open_trace(run).ranks.size(), 1U);
  fs::create_symlink(folder_ / "elsewhere/secret", run / "rank1.json");
  const auto error = error_of([&] { open_trace(run); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kInput);
  EXPECT_EQ(error->what(), (run / "rank1.json").string() + ": a link out of its folder");
  EXPECT_NE(error->cause().find(fs::canonical(folder_ / "elsewhere/secret").string()), std::string::npos);
  EXPECT_NE(error->hint(), "");
  EXPECT_EQ(open_trace(run / "rank1.json").ranks.size(), 1U) << "named by the user";
  fs::create_symlink(run, folder_ / "shortcut");
  fs::remove(run / "rank1.json");
  EXPECT_EQ(open_trace(folder_ / "shortcut").ranks.size(), 1U) << "as well";
}

TEST_F(NamedPath, WhatTellsOfAnExperimentIsNoLinkOut) {
  write_file(folder_ / "elsewhere/experiment.json", R"({"schema": "swinscope.experiment/1", "points": []})");
  write_file(folder_ / "elsewhere/point.json", R"({"schema": "swinscope.point/1", "tracing": "timing1"})");
  fs::create_symlink(folder_ / "elsewhere/experiment.json", folder_ / "e/experiment.json");
  fs::create_symlink(folder_ / "elsewhere/point.json", file());
  EXPECT_EQ(error_of([&] { read_experiment(folder_ / "e"); }).value().kind(), ErrorKind::kInput);
  EXPECT_EQ(error_of([&] { read_point(folder_ / "e/gpus1"); }).value().kind(), ErrorKind::kInput);
  write_file(folder_ / "e/gpus1/timing1/rank0.json", kineto_document(launch_event(1, 1, 1)));
  EXPECT_TRUE(error_of([&] { open_trace(folder_ / "e/gpus1"); })) << "is no point then, and has no traces itself";

  fs::create_directories(folder_ / "all");
  fs::create_symlink(folder_ / "elsewhere", folder_ / "all/one");
  EXPECT_TRUE(error_of([&] { experiments_at(folder_ / "all"); }));
  EXPECT_EQ(experiments_at(folder_ / "all/one").size(), 1U) << "named by the user";
}

TEST_F(NamedPath, PipesInTheFolderAreNotWaitedFor) {
  ASSERT_EQ(mkfifo((folder_ / "e/gpus1/tracing").c_str(), 0600), 0);
  write_file(file(), R"({"schema": "swinscope.point/1", "tracing": "tracing"})");
  write_file(folder_ / "e/experiment.json", R"({"schema": "swinscope.experiment/1", "points": ["gpus1"]})");
  const ExperimentPoint point = read_experiment(folder_ / "e").points.at(0);
  EXPECT_TRUE(error_of([&] { open_trace(point.folder / point.tracing); }));
}

}  // namespace
}  // namespace swinscope::test
