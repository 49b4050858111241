// What the golden test of layers_peaks cannot ask: which GPUs are known, and that nothing is guessed of others.
#include "analyzer/facts/gpu_peaks.h"

#include <gtest/gtest.h>

namespace swinscope {
namespace {

Trace trace_of(std::initializer_list<GpuInfo> gpus) {
  Trace trace;
  for (const GpuInfo& gpu : gpus)
    trace.ranks.emplace_back().run.gpus = {gpu};
  return trace;
}

GpuInfo gpu(const char* name, std::int64_t bytes_per_second = 0) {
  GpuInfo info;
  info.name = name;
  info.memory_bytes_per_second = bytes_per_second;
  return info;
}

TEST(GpuPeaks, AreTheVendorsWhereTheTraceSaysNothing) {
  const GpuPeaks peaks = gpu_peaks(trace_of({gpu("NVIDIA H200"), gpu("NVIDIA H200")}));
  EXPECT_EQ(peaks.bytes_per_ns, 4800);
  EXPECT_EQ(peaks.flop_per_ns.at("fp16"), 989'400);
  EXPECT_EQ(peaks.flop_per_ns.at("fp32"), 67'000);
  EXPECT_EQ(gpu_peaks(trace_of({gpu("NVIDIA H200", 4'917'000'000'000)})).bytes_per_ns, 4917);
}

TEST(GpuPeaks, AreNotGuessed) {
  EXPECT_TRUE(gpu_peaks(trace_of({gpu("NVIDIA H200 NVL")})).flop_per_ns.empty()) << "another GPU";
  EXPECT_EQ(gpu_peaks(trace_of({gpu("GPU of nobody", 1'000'000'000)})).bytes_per_ns, 1);
  const GpuPeaks mixed = gpu_peaks(trace_of({gpu("NVIDIA H200"), gpu("NVIDIA H100 80GB HBM3")}));
  EXPECT_EQ(mixed.bytes_per_ns, 0);
  EXPECT_TRUE(mixed.flop_per_ns.empty());
  EXPECT_EQ(gpu_peaks(Trace()).bytes_per_ns, 0);
}

TEST(GpuPeaks, SharesNeedThePeakOfWhatTheWorkDoes) {
  const GpuPeaks memory_only{4000, {}};
  EXPECT_FALSE(peak_shares(memory_only, "fp16", 1, 1, 1).has_value());
  EXPECT_EQ(peak_shares(memory_only, "fp16", 0, 2000, 1)->memory, 0.5);
  EXPECT_FALSE(peak_shares({0, {{"fp16", 10.0}}}, "fp16", 10, 1, 1).has_value());
  EXPECT_EQ(peak_shares({0, {{"fp16", 10.0}}}, "fp16", 10, 0, 2)->compute, 0.5);
  EXPECT_FALSE(peak_shares({4000, {{"fp16", 10.0}}}, "fp16", 0, 0, 1).has_value());
  EXPECT_FALSE(peak_shares({4000, {{"fp16", 10.0}}}, "fp16", 1, 1, 0).has_value());
}

TEST(GpuPeaks, BoundIsTheNearerRoofUnlessBothAreFar) {
  EXPECT_EQ(bound_name({0.25, 0.1}), "memory");
  EXPECT_EQ(bound_name({0.3, 0.31}), "compute");
  EXPECT_EQ(bound_name({0.24, 0.2}), "latency");
}

}  // namespace
}  // namespace swinscope
