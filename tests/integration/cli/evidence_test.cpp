// The SQL that verdicts carry, run by `swinscope query`: its rows give the figures that are said.
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <gmock/gmock.h>

#include "tests/integration/cli/support.h"

namespace swinscope::tests {
namespace {

using nlohmann::json;

class Evidence : public CliTest {
 protected:
  json rows(const std::string& trace, const json& document) const {
    EXPECT_TRUE(document["evidence"].is_string()) << document;
    return run_json({"query", trace, document["evidence"].get<std::string>()})["data"];
  }
  static std::int64_t sum(const json& rows, const char* column) {
    std::int64_t total = 0;
    for (const json& row : rows)
      total += row[column].get<std::int64_t>();
    return total;
  }
  static std::string data(const char* name) { return (recording().parent_path() / name).string(); }
};

// Calls and time of each kernel; where a part was chosen by name, there is no SQL.
TEST_F(Evidence, WorkIsTheTableOfKernels) {
  const std::string trace = data("swinscope_swin_large_train_ladder/eager.db");
  const json document = run_json({"analyze", trace});
  ASSERT_EQ(document["verdict"], document["data"]["verdict"]);
  std::map<std::string, std::pair<json, json>> by_name;
  for (const json& row : rows(trace, document))
    by_name[row["name"]] = {row["calls"], row["total_ns"]};
  int compared = 0;
  const json kernels = run_json({"kernels", trace, "--names", "full"})["data"];
  for (const json& kernel : kernels) {
    const auto row = by_name.find(kernel["full_name"].get<std::string>());
    if (row == by_name.end()) continue;  // a copy: SQL calls these otherwise
    EXPECT_EQ(row->second, std::pair(kernel["calls"], kernel["total_ns"])) << kernel["name"];
    ++compared;
  }
  EXPECT_GT(compared, 10);
  EXPECT_TRUE(run_json({"analyze", trace, "--name", "gemm"})["evidence"].is_null());
}

TEST_F(Evidence, GapsAreTheIdleTime) {
  for (const std::string& trace : {data("swinscope_swin_tiny_infer_1gpu.db"), data("swinscope_swin_tiny_ddp_2gpu")}) {
    std::int64_t idle = 0;
    const json devices = run_json({"analyze", trace})["data"]["utilization"];
    for (const json& device : devices)
      idle += device["idle_ns"].get<std::int64_t>();
    const json gaps = run_json({"gaps", trace});
    EXPECT_EQ(sum(rows(trace, gaps), "gap_ns"), idle) << trace;
  }
}

TEST_F(Evidence, AVerdictOfTheHostHasGaps) {
  const std::string trace = data("swinscope_swin_tiny_infer_1gpu.db");
  const json document = run_json({"analyze", trace});
  ASSERT_EQ(document["data"]["bound_by"], "host");
  EXPECT_GT(sum(rows(trace, document), "gap_ns"), 0);
  EXPECT_TRUE(document["abstained"].is_null());
  EXPECT_TRUE(document["confidence"].is_string());
}

// The first opportunity: GPU time of the kernels that it is about.
TEST_F(Evidence, AdviceHasTheWorkOfItsFirstCard) {
  const std::string trace = data("swinscope_swin_large_train_ladder/eager.db");
  const json document = run_json({"advise", trace});
  EXPECT_GT(sum(rows(trace, document), "total_ns"),
            document["data"]["opportunities"][0]["saving_ns"].get<std::int64_t>());
}

// The calls of the kernel that grew most, in the run that is said of.
TEST_F(Evidence, AComparisonOfRunsHasTheKernelThatGrewMost) {
  const std::string eager = data("swinscope_swin_large_train_ladder/eager.db");
  const std::string attention = data("swinscope_swin_large_train_ladder/attention.db");
  const json document = run_json({"compare", attention, eager});
  EXPECT_TRUE(document["verdict"].is_string());
  EXPECT_EQ(document["confidence"], "high") << document["warnings"];
  std::string grown;
  std::int64_t most = 0;
  for (const json& kernel : document["data"]["kernel_differences"]) {
    const std::int64_t change = kernel["change_ns"].get<std::int64_t>();
    if (change > most) grown = kernel["kernel"].get<std::string>();
    most = std::max(most, change);
  }
  ASSERT_FALSE(grown.empty());
  for (const json& row : rows(eager, document))
    EXPECT_NE(row["name"].get<std::string>().find(grown), std::string::npos) << row;
  const json unlike = run_json({"compare", eager, data("swinscope_swin_tiny_infer_1gpu.db")});
  EXPECT_TRUE(unlike["verdict"].is_null());
  EXPECT_TRUE(unlike["confidence"].is_null());
  EXPECT_THAT(unlike["abstained"].get<std::string>(), testing::StartsWith("not the same work: "));
}

TEST_F(Evidence, ExperimentsAndPredictionsSayHowSureTheyAre) {
  const std::string weak = data("swinscope_swin_large_weak_2gpu");
  const json analyzed = run_json({"analyze", weak});
  EXPECT_TRUE(analyzed["verdict"].is_string());
  EXPECT_EQ(analyzed["confidence"], analyzed["warnings"].empty() ? "high" : "medium");
  const json predicted = run_json({"predict", weak, "--gpus", "4"});
  EXPECT_EQ(predicted["confidence"], "medium") << "nothing has tested the growth of the loss";
  EXPECT_EQ(run_json({"predict", weak, "--gpus", "64"})["confidence"], "low") << "the network was not measured";
  const json compared = run_json({"compare", weak, data("swinscope_swinv2b_upernet_weak_2gpu")});
  EXPECT_THAT(compared["abstained"].get<std::string>(), testing::StartsWith("not the same work: ")) << "other models";
}

TEST_F(Evidence, OneRankHasNothingToCompareWhichIsSaid) {
  const json document = run_json({"ranks", data("swinscope_swin_tiny_infer_1gpu.db")});
  EXPECT_TRUE(document["verdict"].is_null());
  EXPECT_EQ(document["abstained"], "one rank: nothing to compare");
}

// A command that ends with status 1 says why in JSON, too.
TEST_F(Evidence, NothingToSayIsADocument) {
  make_database("small.sqlite", small_export_sql());
  for (const char* command : {"roofline", "layers", "collectives"}) {
    const json document = run_json({command, "small.sqlite"}, 1);
    EXPECT_TRUE(document["abstained"].is_string()) << command;
    EXPECT_EQ(document["run"], "small.sqlite") << command;
  }
  EXPECT_EQ(run({"roofline", "small.sqlite"}).out, "");
}

}  // namespace
}  // namespace swinscope::tests
