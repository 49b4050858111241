// The figures of real recordings.
#include <cstdlib>

#include <gmock/gmock.h>

#include "tests/integration/cli/support.h"

namespace swinscope::tests {
namespace {

using testing::DoubleNear;
using testing::HasSubstr;
using testing::StartsWith;

double milliseconds(const nlohmann::json& ns) { return ns.get<double>() / 1e6; }

class PyTorchRecording : public CliTest {
 protected:
  const std::string trace_ = recording().string();
};

TEST_F(PyTorchRecording, Analyze) {
  const nlohmann::json data = run_json({"analyze", "--scope", "trace", trace_})["data"];
  EXPECT_EQ(data["gpu_events"], 17895);
  EXPECT_EQ(data["bound_by"], "memory");
  const nlohmann::json& device = data["utilization"].at(0);
  EXPECT_EQ(data["utilization"].size(), 1U);
  EXPECT_EQ(device["events"], 17895);
  EXPECT_THAT(milliseconds(device["span_ns"]), DoubleNear(704.7, 0.05));
  EXPECT_THAT(milliseconds(device["busy_ns"]), DoubleNear(540.1, 0.05));
  EXPECT_THAT(device["gpu_busy_percent"].get<double>(), DoubleNear(76.6, 0.05));
  EXPECT_EQ(data["steps"].at(0)["steps"], 3);
  const nlohmann::json& top = data["kernels"].at(0);
  EXPECT_THAT(top["name"].get<std::string>(), StartsWith("upsample_bilinear2d_backward"));
  EXPECT_EQ(top["calls"], 36);
  EXPECT_THAT(milliseconds(top["total_ns"]), DoubleNear(196.4, 0.05));
}

TEST_F(PyTorchRecording, TheVerdictComesFirst) {
  const std::vector<std::string> lines = lines_of(run({"analyze", trace_}).out);
  ASSERT_GT(lines.size(), 2U);
  EXPECT_THAT(lines[0], StartsWith("bound by memory: "));
  EXPECT_THAT(lines[0], HasSubstr(" per step ("));
  EXPECT_THAT(lines[1], StartsWith("  evidence: swinscope "));
}

// The idle causes and the bounds leave nothing out.
TEST_F(PyTorchRecording, PartsSumToTheWhole) {
  const nlohmann::json data = run_json({"analyze", trace_})["data"];
  const nlohmann::json& idle = data["idle"].at(0);
  std::int64_t sum = 0;
  for (const char* cause :
       {"host_ns", "synchronization_ns", "input_ns", "communication_ns", "dependency_ns", "other_ns"}) {
    sum += idle[cause].get<std::int64_t>();
  }
  EXPECT_EQ(sum, data["utilization"].at(0)["idle_ns"]);
  double share = 0;
  for (const auto& bound : data["bounds"])
    share += bound["share_percent"].get<double>();
  EXPECT_THAT(share, DoubleNear(100, 1e-9));
}

// A real Nsight Systems export is not in the repository: SWINSCOPE_NSYS_TRACE names it.
class NsysRecording : public CliTest {
 protected:
  void SetUp() override {
    const char* path = std::getenv("SWINSCOPE_NSYS_TRACE");
    if (path == nullptr || *path == '\0') GTEST_SKIP() << "SWINSCOPE_NSYS_TRACE does not name an Nsight Systems export";
    trace_ = std::filesystem::absolute(path).string();
  }
  std::string trace_;
};

TEST_F(NsysRecording, TwoProcessesAreTwoRanks) {
  const nlohmann::json data = run_json({"info", trace_})["data"];
  ASSERT_EQ(data["ranks"].size(), 2U);
  std::int64_t ranges = 0;
  for (const auto& rank : data["ranks"]) {
    EXPECT_EQ(rank["kernels"], 1721);
    ranges += rank["ranges"].get<std::int64_t>();
  }
  EXPECT_EQ(ranges, 16782);
}

TEST_F(NsysRecording, Analyze) {
  const nlohmann::json data = run_json({"analyze", trace_})["data"];
  ASSERT_EQ(data["utilization"].size(), 2U);
  const std::vector<double> spans = {969.45, 969.26};
  for (std::size_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(data["utilization"][rank]["device"], rank);
    EXPECT_THAT(milliseconds(data["utilization"][rank]["span_ns"]), DoubleNear(spans[rank], 0.005));
    EXPECT_THAT(data["utilization"][rank]["gpu_busy_percent"].get<double>(), DoubleNear(99.3, 0.05));
  }
  EXPECT_THAT(data["kernels"].at(0)["name"].get<std::string>(), StartsWith("Memcpy HtoD"));
}

TEST_F(NsysRecording, KernelsJoinTheirLaunches) {
  std::int64_t kernels = 0;
  std::int64_t joined = 0;
  std::int64_t before = 0;
  const nlohmann::json launches = run_json({"launches", trace_});
  for (const auto& rank : launches["data"]) {
    kernels += rank["kernels"].get<std::int64_t>();
    joined += rank["joined"].get<std::int64_t>();
    before += rank["launched_before"].get<std::int64_t>();
  }
  EXPECT_EQ(kernels, 3442);
  EXPECT_EQ(joined, 1632);
  EXPECT_EQ(before, 3442 - 1632);
}

TEST_F(NsysRecording, ItsImportSaysTheSame) {
  ASSERT_EQ(run({"import", trace_, "-o", "run"}).status, 0);
  for (const char* name : {"kernels", "launches"}) {
    EXPECT_EQ(run_json({name, "run"})["data"], run_json({name, trace_})["data"]) << name;
  }
}

// Of whose GPU the price is may be said, so that a wrong one is noticed.
TEST_F(PyTorchRecording, APriceIsOfAGpu) {
  const std::string experiment = (recording().parent_path() / "swinscope_swin_large_weak_2gpu").string();
  const auto predict = [&](const std::string& price) {
    return std::vector<std::string>{"predict", experiment, "--gpus", "4", "--price", price};
  };
  const auto cost = run_json(predict("3.5"))["data"]["predictions"].back()["cost"];
  EXPECT_THAT(cost.get<double>(), DoubleNear(0.724, 0.001));
  EXPECT_EQ(run_json(predict("h200=3.5"))["data"]["predictions"].back()["cost"], cost);
  const ProgramResult other = run(predict("h100=3.5"));
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err,
              HasSubstr("error: --price h100=3.5: not the GPU of the experiment\n  cause: that is NVIDIA H200\n"));
  for (const char* price : {"h200=", "3.5x", "-1", "0", "nan"})
    EXPECT_EQ(run(predict(price)).status, 2) << price;
}

}  // namespace
}  // namespace swinscope::tests
