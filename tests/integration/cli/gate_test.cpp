// swinscope gate on real recordings: repeats pass, a planted regression does not, and what cannot be compared is not.
#include <filesystem>

#include <gmock/gmock.h>
#include <sqlite3.h>

#include "tests/integration/cli/support.h"

namespace swinscope::tests {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

class GateTest : public CliTest {
 protected:
  GateTest() { copy("base.db"); }

  void copy(const std::string& name) const {
    fs::copy_file(recording().parent_path() / "swinscope_swin_large_train_ladder/tensorcore.db", folder() / name);
  }
  // The recording with statements run on it.
  std::string changed(const std::string& name, const std::string& sql) const {
    copy(name);
    return make_database(name, sql);
  }
  // All times are `percent` of what they were.
  std::string stretched(const std::string& name, int percent) const {
    std::string sql = "CREATE TEMP TABLE first AS SELECT min(start) AS at FROM NVTX_EVENTS WHERE start > 0;";
    for (const char* table : {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET",
                              "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"}) {
      const auto later = [&](const std::string& column) {
        std::string change = column;
        change.append(" = at + (").append(column).append(" - at) * ").append(std::to_string(percent)).append(" / 100");
        return change;
      };
      sql += "UPDATE " + std::string(table) + " SET " + later("start") + ", " + later("end") + " FROM first;";
    }
    return changed(name, sql);
  }
};

TEST_F(GateTest, TheSameRunPasses) {
  const ProgramResult result = run({"gate", "base.db", changed("again.db", "")});
  EXPECT_EQ(result.status, 0) << result.out;
  EXPECT_THAT(result.out, StartsWith("pass: again.db takes "));
}

TEST_F(GateTest, ARepeatWithinTheNoisePasses) {
  EXPECT_EQ(run({"gate", "base.db", stretched("repeat.db", 101), "--fail-above", "20%"}).status, 0);
}

TEST_F(GateTest, EightPercentAreARegressionThatNamesKernels) {
  const std::string run_name = stretched("slower.db", 108);
  const nlohmann::json json = run_json({"gate", "base.db", run_name}, 1);
  EXPECT_EQ(json["data"]["outcome"], "regression");
  EXPECT_THAT(json["verdict"].get<std::string>(), HasSubstr("grew most: "));
  ASSERT_GT(json["data"]["regressions"].size(), 0U);
  for (const nlohmann::json& row : json["data"]["regressions"])
    EXPECT_NEAR(row["change_percent"].get<double>(), 8.0, 0.3) << row;
  // The figures are those of compare.
  const nlohmann::json compared = run_json({"compare", "base.db", run_name})["data"];
  EXPECT_EQ(json["data"]["kernel_differences"], compared["kernel_differences"]);
  EXPECT_EQ(json["data"]["runs"], compared["runs"]);
  EXPECT_EQ(run({"gate", "base.db", run_name, "--fail-above", "20%", "--format", "text"}).status, 0);
}

TEST_F(GateTest, OtherGpusAreInconclusive) {
  const std::string other = changed("other.db", "UPDATE TARGET_INFO_GPU SET name = 'NVIDIA A100'");
  const nlohmann::json json = run_json({"gate", "base.db", other}, 1);
  EXPECT_EQ(json["data"]["outcome"], "inconclusive");
  EXPECT_TRUE(json["verdict"].is_null());
  EXPECT_TRUE(json["confidence"].is_null());
  EXPECT_THAT(json["abstained"].get<std::string>(), HasSubstr("not the same GPU: NVIDIA H200 in base.db, NVIDIA A100"));
}

TEST_F(GateTest, ExitStatuses) {
  EXPECT_EQ(run({"gate", "base.db"}).status, 2);
  EXPECT_EQ(run({"gate", "base.db", "base.db", "--fail-above", "much"}).status, 2);
  EXPECT_EQ(run({"gate", "base.db", "none.db"}).status, 3);
}

}  // namespace
}  // namespace swinscope::tests
