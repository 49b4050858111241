// Connections of ranks over Gloo, which are threads here.
#include <array>
#include <chrono>
#include <csignal>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/workloads/subprocess.h"
#include "workloads/gloo_module.h"
#include "workloads/shared_module.h"

namespace swinscope {
namespace {

constexpr int kRanks = 3;

class Gloo : public testing::Test {
 protected:
  Gloo() : module_("libswinscope_gloo.so", "", "") {
    std::signal(SIGPIPE, SIG_IGN);  // as ranks do
    std::array<std::future<void>, kRanks> connecting;
    for (int rank = 0; rank < kRanks; ++rank)
      connecting.at(static_cast<std::size_t>(rank)) = std::async(std::launch::async, [this, rank] { connect(rank); });
    for (std::future<void>& one : connecting)
      one.get();
  }
  void connect(int rank) {
    GlooOptions options;
    options.rank = rank;
    options.size = kRanks;
    options.folder = folder_.path();
    options.host = "127.0.0.1";
    options.connect_timeout = std::chrono::seconds(60);
    options.operation_timeout = std::chrono::seconds(20);
    std::array<char, 256> message{};
    auto* transport = module_.find<OpenGlooFunction>(kOpenGlooSymbol)(options, message.data(), message.size());
    ranks_.at(static_cast<std::size_t>(rank)).reset(transport);
    EXPECT_NE(transport, nullptr) << message.data();
  }
  // What becomes of a rank that takes part in a sum.
  static std::string sum(RankTransport& rank) {
    std::vector<float> values(100'000, 1.0F);
    try {
      rank.all_reduce_sum(values.data(), values.size());
      return "";
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  test::TemporaryFolder folder_;
  SharedModule module_;
  std::array<std::unique_ptr<RankTransport>, kRanks> ranks_;
};

// Two wait for the third, or for each other; that one does nothing, as one that is stopped.
TEST_F(Gloo, WhoWaitsForAnotherIsWoken) {
  std::future<std::string> first = std::async(std::launch::async, [this] { return sum(*ranks_[0]); });
  std::future<std::string> second = std::async(std::launch::async, [this] { return sum(*ranks_[1]); });
  ranks_[0]->abort();
  const std::string error = first.get();
  EXPECT_THAT(error, testing::HasSubstr("Connection closed")) << "rather than the end of the time for an operation";
  ranks_[1]->abort();
  EXPECT_NE(second.get(), "");
  EXPECT_NE(sum(*ranks_[0]), "") << "nor is any later operation waited for";
}

}  // namespace
}  // namespace swinscope
