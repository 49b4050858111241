#include "collector/base/trace_options.h"

#include <gtest/gtest.h>

namespace swinscope {
namespace {

TEST(TraceOptions, AListSaysWhatIsRecordedAndNothingElse) {
  std::string unknown;
  const auto options = parse_trace_list("nvtx", unknown);
  ASSERT_TRUE(options);
  EXPECT_TRUE(options->nvtx);
  EXPECT_FALSE(options->cuda);
  EXPECT_FALSE(options->sync);
}

TEST(TraceOptions, WhatIsAboutCudaBringsCuda) {
  std::string unknown;
  EXPECT_TRUE(parse_trace_list("sync", unknown)->cuda);
  EXPECT_TRUE(parse_trace_list("memory", unknown)->cuda);
  EXPECT_TRUE(parse_trace_list("api", unknown)->all_calls);
}

TEST(TraceOptions, AListSurvivesTheWayThroughTheEnvironment) {
  std::string unknown;
  for (const char* list : {"cuda,nvtx", "cuda,nvtx,api,sync,memory,overhead,nccl", "nvtx", "nvtx,nccl"})
    EXPECT_EQ(trace_list(*parse_trace_list(list, unknown)), list);
}

TEST(TraceOptions, AnUnknownWordIsNamed) {
  std::string unknown;
  EXPECT_FALSE(parse_trace_list("cuda,osrt", unknown));
  EXPECT_EQ(unknown, "osrt");
}

TEST(TraceOptions, CallsOfTheAnalysesAreTraced) {
  for (const char* name :
       {"cudaLaunchKernel_v7000", "cudaLaunchKernelExC_v11060", "cuLaunchKernelEx", "cuLaunchKernel_ptsz",
        "cudaGraphLaunch_v10000", "cuGraphLaunch", "cudaMemcpyAsync_v3020", "cuMemcpyHtoDAsync_v2", "cudaMemset_v3020",
        "cuMemsetD8Async", "cudaDeviceSynchronize_v3020", "cuStreamSynchronize", "cudaEventSynchronize_v3020",
        "cudaMalloc_v3020", "cuMemAlloc_v2", "cuMemFree_v2"})
    EXPECT_TRUE(is_traced_call(name, {})) << name;
}

TEST(TraceOptions, CallsThatOtherRecordsJoinComeWithThem) {
  TraceOptions options;
  for (const char* name : {"cudaEventRecord_v3020", "cuStreamWaitEvent", "cudaMemPoolTrimTo_v11020"})
    EXPECT_FALSE(is_traced_call(name, options)) << name;
  options.sync = true;
  EXPECT_TRUE(is_traced_call("cudaEventRecord_v3020", options));
  EXPECT_TRUE(is_traced_call("cuStreamWaitEvent", options));
  EXPECT_FALSE(is_traced_call("cudaMemPoolTrimTo_v11020", options));
  options.memory = true;
  EXPECT_TRUE(is_traced_call("cudaMemPoolTrimTo_v11020", options));
  EXPECT_FALSE(is_traced_call("cudaGetDevice_v3020", options));
  options.all_calls = true;
  EXPECT_TRUE(is_traced_call("cudaGetDevice_v3020", options));
}

TEST(TraceOptions, FrequentCallsThatNoAnalysisUsesAreNot) {
  for (const char* name : {"cudaGetDevice_v3020", "cudaGetLastError_v3020", "cudaEventQuery_v3020", "cuCtxGetCurrent",
                           "cuDevicePrimaryCtxGetState", "cuKernelGetName", "cudaStreamIsCapturing_v10000",
                           "cuMemGetInfo_v2", "nvtxRangePushA"})
    EXPECT_FALSE(is_traced_call(name, {})) << name;
}

}  // namespace
}  // namespace swinscope
