// Rates: what is measured is given back, what lies between is between, what lies beyond holds, and damaged files are
// refused with their place.
#include "advisor/rates.h"

#include <array>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "advisor/peaks_files.h"
#include "store/error.h"
#include "tests/unit/store/support.h"

namespace swinscope {
namespace {

using testing::HasSubstr;

// Rates in FLOP/ns, so that times can be worked out: fp16, a layer of 1024 x 256 on 64 rows 10, on 256 rows 40, on 4096
// rows 80; one of 256 x 256 on 1024 rows 20. Elementwise: 64 KiB in 4096 ns (16 bytes/ns), 1 MiB in 16384 ns (64).
constexpr const char* kTable = R"({
  "schema": "swinscope.rates/1", "gpu": "Test GPU", "a later key": {"x": [1]},
  "scalars": {"empty_kernel": 1000, "kernel_gap": 600.5, "graph_gap": 300, "launch": 2000,
              "graph_launch_base": 4000, "graph_launch_node": 50},
  "bytes": [{"bytes": 1048576, "ns": 16384}, {"bytes": 65536, "ns": 4096}],
  "products": {"fp16": [
    {"batch": 1, "m": 4096, "n": 1024, "k": 256, "ns": 26843545.6},
    {"batch": 1, "m": 64, "n": 1024, "k": 256, "ns": 3355443.2},
    {"batch": 1, "m": 256, "n": 1024, "k": 256, "ns": 3355443.2},
    {"batch": 1, "m": 1024, "n": 256, "k": 256, "ns": 6710886.4},
    {"batch": 64, "m": 64, "n": 64, "k": 32, "ns": 2000}
  ]}
})";

Rates table() { return Rates::parse(kTable, "test.json"); }

double flops(const ProductShape& s) {
  return 2.0 * static_cast<double>(s.batch * s.m) * static_cast<double>(s.n * s.k);
}

// In FLOP/ns; 0: no value.
double rate(const ProductShape& shape) {
  const std::optional<double> ns = table().product_ns("fp16", shape);
  return ns ? flops(shape) / *ns : 0.0;
}

std::string with(const std::string& what, const std::string& other) {
  std::string text = kTable;
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), other);
}

Error refused(const std::string& text) {
  try {
    (void)Rates::parse(text, "test.json");
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "it was accepted:\n" << text;
  return {ErrorKind::kFailure, ""};
}

TEST(Rates, SaysWhatItIsOf) {
  EXPECT_EQ(table().gpu(), "Test GPU");
  EXPECT_EQ(table().source(), "test.json");
}

TEST(Rates, ReadsAFile) {
  const test::TempFolder folder;
  test::write_file(folder / "rates.json", kTable);
  const Rates rates = Rates::read(folder / "rates.json");
  EXPECT_EQ(rates.gpu(), "Test GPU");
  EXPECT_EQ(rates.source(), (folder / "rates.json").string());
  EXPECT_EQ(rates.launch_ns(), 2000.0);
}

TEST(Rates, GivesBackWhatWasMeasured) {
  const Rates rates = table();
  EXPECT_DOUBLE_EQ(rates.product_ns("fp16", {1, 4096, 1024, 256}).value(), 26843545.6);
  EXPECT_DOUBLE_EQ(rates.product_ns("fp16", {1, 64, 1024, 256}).value(), 3355443.2);
  EXPECT_DOUBLE_EQ(rates.product_ns("fp16", {1, 1024, 256, 256}).value(), 6710886.4);
  EXPECT_DOUBLE_EQ(rates.product_ns("fp16", {64, 64, 64, 32}).value(), 2000.0);
  EXPECT_DOUBLE_EQ(rates.bytes_ns(65536).value(), 4096.0);
  EXPECT_DOUBLE_EQ(rates.bytes_ns(1048576).value(), 16384.0);
}

TEST(Rates, InterpolatesTheRateInTheLogarithmOfTheSize) {
  EXPECT_DOUBLE_EQ(rate({1, 128, 1024, 256}), 25.0);  // halfway between 10 and 40
  EXPECT_DOUBLE_EQ(rate({1, 1024, 1024, 256}), 60.0);
  EXPECT_DOUBLE_EQ(table().bytes_ns(262144).value(), 262144.0 / 40.0);  // halfway between 16 and 64
}

// n = 512 lies at a distance of 1 from both layers, which on 1024 rows reach 60 and 20.
TEST(Rates, TakesTheMeanOfTheNearestLayers) {
  EXPECT_DOUBLE_EQ(rate({1, 1024, 512, 256}), 40.0);
  const double nearer = rate({1, 1024, 768, 256});
  EXPECT_GT(nearer, 40.0);
  EXPECT_LT(nearer, 60.0);
}

// The layer of 256 x 256 was measured on 1024 rows only, 2 octaves away from 4096: its weight is 1 / (1 + 4) to 1 / 1.
TEST(Rates, TrustsLayersLessThatWereMeasuredOnOtherRows) {
  EXPECT_DOUBLE_EQ(rate({1, 4096, 512, 256}), (80.0 + 20.0 / 5.0) / (1.0 + 1.0 / 5.0));
}

TEST(Rates, HoldsTheRateAboveAndTheTimeBelow) {
  EXPECT_DOUBLE_EQ(rate({1, 65536, 1024, 256}), 80.0);
  EXPECT_DOUBLE_EQ(rate({1, 4096, 8192, 4096}), 80.0);  // the nearest layer's, as far as it was measured
  EXPECT_DOUBLE_EQ(table().product_ns("fp16", {1, 1, 1024, 256}).value(), 3355443.2);
  EXPECT_DOUBLE_EQ(table().bytes_ns(std::exp2(30)).value(), std::exp2(30) / 64.0);
  EXPECT_DOUBLE_EQ(table().bytes_ns(1).value(), 4096.0);
  EXPECT_DOUBLE_EQ(table().bytes_ns(0).value(), 4096.0);
}

// 1 x 1 on 2^26 rows: 2^28 bytes and 2^27 FLOPs, at 64 bytes/ns and 20 FLOP/ns.
TEST(Rates, NarrowProductsAreBoundByMemory) {
  const double rows = std::exp2(26);
  const auto m = static_cast<std::int64_t>(rows);
  EXPECT_DOUBLE_EQ(table().product_ns("fp16", {1, m, 1, 1}).value(), 2.0 * rows / 20.0);
  const std::string fast = with("\"ns\": 6710886.4", "\"ns\": 1677721.6");  // 80 FLOP/ns
  EXPECT_DOUBLE_EQ(Rates::parse(fast, "").product_ns("fp16", {1, m, 1, 1}).value(), (2.0 * rows + 1.0) * 2.0 / 64.0);
}

TEST(Rates, NothingIsShorterThanAnEmptyKernel) {
  EXPECT_EQ(table().product_ns("fp16", {2, 1, 64, 32}), 2000.0);
  const Rates rates = Rates::parse(with("\"empty_kernel\": 1000", "\"empty_kernel\": 9000"), "test.json");
  EXPECT_EQ(rates.product_ns("fp16", {2, 1, 64, 32}), 9000.0);
  EXPECT_EQ(rates.bytes_ns(65536), 9000.0);
}

TEST(Rates, HasNoValueForWhatNoTableCovers) {
  const Rates rates = table();
  EXPECT_EQ(rates.product_ns("fp8", {1, 64, 1024, 256}), std::nullopt);
  EXPECT_EQ(rates.product_ns("fp16", {1, 0, 1024, 256}), std::nullopt);
  EXPECT_EQ(rates.bytes_ns(-1.0), std::nullopt);
  const Rates empty = Rates::parse(R"({"schema": "swinscope.rates/1", "gpu": "G"})", "test.json");
  EXPECT_EQ(empty.product_ns("fp16", {1, 64, 1024, 256}), std::nullopt);
  EXPECT_EQ(empty.bytes_ns(65536), std::nullopt);
  EXPECT_EQ(empty.empty_kernel_ns(), std::nullopt);
  EXPECT_EQ(empty.graph_launch_ns(1), std::nullopt);
  const Rates single = Rates::parse(with(R"("batch": 64, "m": 64, "n")", R"("batch": 1, "m": 64, "n")"), "test.json");
  EXPECT_EQ(single.product_ns("fp16", {64, 64, 64, 32}), std::nullopt) << "only single products were measured";
}

TEST(Rates, KnowsWhatLaunchesCost) {
  const Rates rates = table();
  EXPECT_EQ(rates.empty_kernel_ns(), 1000.0);
  EXPECT_EQ(rates.kernel_gap_ns(), 600.5);
  EXPECT_EQ(rates.graph_gap_ns(), 300.0);
  EXPECT_EQ(rates.launch_ns(), 2000.0);
  EXPECT_EQ(rates.graph_launch_ns(10), 4500.0);
}

TEST(Rates, RefusesWhatIsDamaged) {
  const std::vector<std::array<std::string, 3>> damages = {
      {R"("gpu": "Test GPU",)", "", "gpu"},
      {R"("Test GPU")", "\"\"", "gpu"},
      {R"("swinscope.rates/1")", R"("swin.peaks/1")", "its schema is not swinscope.rates/1"},
      {R"("swinscope.rates/1")", R"("swinscope.rates/one")", "swinscope.rates/one"},
      {R"("empty_kernel": 1000)", R"("empty_kernel": "1 us")", "scalars.empty_kernel"},
      {R"("empty_kernel": 1000)", R"("empty_kernel": -1)", "scalars.empty_kernel"},
      {R"({"bytes": 1048576, "ns": 16384})", "7", "bytes[0] is no row"},
      {R"("bytes": 65536)", R"("bytes": 65536.5)", "bytes[1].bytes"},
      {R"("bytes": 65536)", R"("bytes": 18446744073709551615)", "bytes[1].bytes"},
      {R"("bytes": 65536)", R"("bytes": 1048576)", "bytes has two rows of the same size"},
      {R"("m": 256)", R"("m": 0)", "products.fp16[2].m"},
      {R"("m": 256)", R"("m": 64)", "products.fp16 has two rows of the same size"},
      {R"("ns": 26843545.6)", R"("ns": 0)", "products.fp16[0].ns"},
      {R"("ns": 26843545.6)", R"("ns": 1e300)", "products.fp16[0].ns"},
      {R"("ns": 26843545.6)", R"("us": 26843)", "products.fp16[0].ns"},
      {R"("products": {"fp16")", R"("products": [], "other": {"fp16")", "products is no object"},
      {R"(]}
})",
       "", "it is no JSON object"},
  };
  for (const auto& [what, other, said] : damages) {
    const Error error = refused(with(what, other));
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_STREQ(error.what(), "test.json: no table of rates");
    EXPECT_THAT(error.cause(), HasSubstr(said));
    EXPECT_THAT(error.hint(), HasSubstr("swin peaks --rates"));
  }
}

TEST(Rates, RefusesANewerVersion) {
  const Error error = refused(with("swinscope.rates/1", "swinscope.rates/2"));
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_STREQ(error.what(), "test.json: made by a newer swinscope");
  EXPECT_THAT(error.cause(), HasSubstr("swinscope.rates/2"));
  EXPECT_THAT(error.hint(), HasSubstr("install a newer"));
}

TEST(Rates, RefusesAFileThatIsNotThere) {
  const test::TempFolder folder;
  for (const std::filesystem::path& path : {folder / "none.json", folder.path()}) {
    try {
      (void)Rates::read(path);
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInput);
      EXPECT_THAT(error.what(), HasSubstr(path.string() + ": cannot be read"));
    }
  }
}

TEST(Rates, EveryGpuThatComesAlongIsFoundByItsName) {
  EXPECT_FALSE(Rates::of_gpu("a GPU that nobody makes").has_value());
  std::set<std::string> gpus;
  for (const PeaksFile& file : peaks_files()) {
    const Rates rates = Rates::parse(file.text, std::string(file.name));
    EXPECT_TRUE(gpus.insert(rates.gpu()).second) << "two files of " << rates.gpu();
    const std::optional<Rates> found = Rates::of_gpu(rates.gpu());
    ASSERT_TRUE(found.has_value()) << file.name;
    EXPECT_EQ(found->source(), file.name);
    EXPECT_TRUE(rates.empty_kernel_ns() && rates.kernel_gap_ns() && rates.graph_gap_ns() && rates.launch_ns());
    EXPECT_TRUE(rates.graph_launch_ns(1) && rates.bytes_ns(1e9));
    EXPECT_TRUE(rates.product_ns("fp16", {1, 12544, 768, 768}) && rates.product_ns("fp16", {4096, 49, 49, 32}))
        << file.name;
  }
}

TEST(Rates, AGpuIsNamedByAPartOfItsName) {
  EXPECT_EQ(Rates::named("h200").gpu(), "NVIDIA H200");
  EXPECT_EQ(Rates::named("H100 80GB").gpu(), "NVIDIA H100 80GB HBM3");
  for (const char* part : {"", "NVIDIA", "A100"}) {
    try {
      Rates::named(part);
      ADD_FAILURE() << part;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage) << part;
      EXPECT_THAT(error.cause(), HasSubstr("NVIDIA H200")) << part;
      EXPECT_THAT(error.hint(), HasSubstr("--peaks FILE")) << part;
    }
  }
}

}  // namespace
}  // namespace swinscope
