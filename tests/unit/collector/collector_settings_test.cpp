// What `record` says reaches the processes of its command.
#include "collector/base/collector_settings.h"

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace swinscope {
namespace {

class CollectorSettingsTest : public ::testing::Test {
 protected:
  void TearDown() override {
    for (const std::string& name : set_)
      unsetenv(name.c_str());
  }
  void set(const std::string& name, const std::string& value) {
    setenv(name.c_str(), value.c_str(), 1);
    set_.push_back(name);
  }
  CollectorSettings handed_over(const CollectorSettings& settings) {
    for (const auto& [name, value] : settings.to_environment())
      set(name, value);
    return CollectorSettings::from_environment();
  }

  std::vector<std::string> set_;
};

TEST_F(CollectorSettingsTest, SurviveTheWayThroughTheEnvironment) {
  CollectorSettings settings;
  settings.folder = "/a folder/run";
  settings.rings = "/dev/shm/rings";
  settings.recorder = "node.17.4";
  settings.clock = "boot:123";
  settings.sample_hz = 0.5;
  settings.max_bytes = 1 << 20;
  settings.rotates = true;
  settings.trace = {.cuda = true,
                    .nvtx = false,
                    .all_calls = true,
                    .sync = true,
                    .memory = true,
                    .overhead = true,
                    .graph_level = true};
  settings.window = {.kind = WindowKind::kSteps, .first_step = 10, .end_step = 20, .range = {}, .duration_ns = 5};
  // Every variable has a value of its own: none that from_environment() does not read would give the default.
  const CollectorSettings there = handed_over(settings);
  EXPECT_EQ(there.to_environment(), settings.to_environment());
  for (const auto& [name, value] : CollectorSettings().to_environment())
    EXPECT_NE(settings.to_environment().at(name), value) << name << " is not tried here";
}

TEST_F(CollectorSettingsTest, ARangesNameIsKeptAsItIs) {
  CollectorSettings settings;
  settings.window = {
      .kind = WindowKind::kRange, .first_step = 0, .end_step = 0, .range = "hot: loop 1,2", .duration_ns = 0};
  EXPECT_EQ(handed_over(settings).window.range, "hot: loop 1,2");
}

TEST_F(CollectorSettingsTest, WhatSaysNothingSensibleIsTheDefault) {
  EXPECT_EQ(CollectorSettings::from_environment().to_environment(), CollectorSettings().to_environment());
  const std::map<std::string, std::string> wrong = {
      {"SWINSCOPE_SAMPLE_HZ", "often"},  {"SWINSCOPE_MAX_BYTES", "-4"},   {"SWINSCOPE_TRACE", "cuda,osrt"},
      {"SWINSCOPE_WINDOW", "steps:9:3"}, {"SWINSCOPE_DURATION_NS", "1s"}, {"SWINSCOPE_CUDA_GRAPH", "nodes"}};
  for (const auto& [name, value] : wrong)
    set(name, value);
  EXPECT_EQ(CollectorSettings::from_environment().to_environment(), CollectorSettings().to_environment());
}

}  // namespace
}  // namespace swinscope
