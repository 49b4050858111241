// A trace that was imported, stored and opened again gives the same view, column by column.
#include "analyzer/importers/import.h"
#include "analyzer/importers/open.h"
#include "tests/unit/analyzer/support.h"
#include "tests/unit/analyzer/view.h"

namespace swinscope::test {
namespace {

// What the view of the imported files differs in from that of the source; empty when equal.
std::string difference(const fs::path& source) {
  const TempFolder folder;
  import_traces({source}, folder / "run", false);
  const Trace foreign = open_trace(source);
  const Trace imported = open_trace(folder / "run");
  EXPECT_EQ(foreign.warnings, imported.warnings);
  EXPECT_EQ(foreign.ranks.size(), imported.ranks.size());
  return first_difference(describe(foreign), describe(imported));
}

TEST(ImportRoundTrip, ARealKinetoTrace) {
  const fs::path path = real_kineto_trace();
  const Trace trace = open_trace(path);
  ASSERT_EQ(trace.ranks.size(), 1U);
  EXPECT_EQ(trace.gpu_event_count(), 17'895);
  EXPECT_EQ(trace.ranks[0].api.size(), 18'732U + 1'743U);
  EXPECT_EQ(trace.ranks[0].ranges.size(), 86'574U + 63U + 6U);
  EXPECT_EQ(trace.warnings, std::vector<std::string>{});
  EXPECT_EQ(difference(path), "");
}

TEST(ImportRoundTrip, ARealNsysExport) {
  const char* path = std::getenv("SWINSCOPE_NSYS_TRACE");
  if (path == nullptr) GTEST_SKIP() << "SWINSCOPE_NSYS_TRACE names no Nsight Systems export";
  const Trace trace = open_trace(path);
  EXPECT_GT(trace.gpu_event_count(), 0);
  EXPECT_EQ(difference(path), "");
}

TEST(ImportRoundTrip, AKinetoTraceWithWaits) {
  const TempFolder folder;
  write_file(folder / "t.json", kineto_document(waiting_events()));
  EXPECT_EQ(open_trace(folder / "t.json").ranks.at(0).cuda_events.size(), 1U);
  EXPECT_EQ(difference(folder / "t.json"), "");
}

TEST(ImportRoundTrip, AKinetoTraceWithEverything) {
  const TempFolder folder;
  const std::string events =
      launch_event(1, 10, 2) + "," + launch_event(2, 20, 2, 10, 12) + "," + kernel_event(1, 14, 3) + "," +
      R"_({"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_f16_RING_LL(A)","pid":0,"tid":28,"ts":25,"dur":9,"args":{)_"
      R"("device":0,"stream":28,"correlation":2,"graph node id":12,"graph id":3,"Collective name":"allreduce","dtype":"Half",)"
      R"("In msg nelems":26,"Out msg nelems":26,"Group size":8,"Process Group Name":"pg","Process Group Ranks":"[0, 1]","Seq":42}},)"
      R"_({"ph":"X","cat":"gpu_memcpy","name":"Memcpy DtoH (Device -> Pageable)","pid":0,"tid":7,"ts":40,"dur":2,"args":{"bytes":4}},)_"
      R"_({"ph":"X","cat":"gpu_memset","name":"Memset (Device)","pid":0,"tid":7,"ts":43,"dur":2,"args":{"bytes":4}},)_"
      R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":10,"tid":11,"ts":9.5,"dur":4,"args":{"External id":7,"Sequence number":3,)"
      R"("Input Dims":[[1]],"Input type":["float"]}},)"
      R"({"ph":"X","cat":"cpu_op","name":"aten::cudnn_convolution","pid":10,"tid":11,"ts":10,"dur":2,"args":{"Input Dims":[[1],[]],)"
      R"("Input type":["float","ScalarList"],"Concrete Inputs":["","[4, 4]"]}},)"
      R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":10,"tid":11,"ts":-9.001,"dur":90},)"
      R"({"ph":"X","cat":"gpu_user_annotation","name":"step","pid":0,"tid":7,"ts":14,"dur":30},)"
      R"({"ph":"X","cat":"cuda_sync","name":"Event Sync","pid":0,"tid":7,"ts":44,"dur":1,"args":{"stream":7,"event_id":9}},)"
      R"({"ph":"X","cat":"overhead","name":"Buffer Flush","pid":-1,"tid":0,"ts":50,"dur":1},)"
      R"({"ph":"i","name":"Iteration Start","pid":"Traces","tid":"x","ts":4,"s":"g"},)"
      R"({"ph":"X","cat":"cpu_op","name":"x","pid":10,"tid":139637976762176,"ts":2305843009213693.952,"dur":1},)"
      R"({"ph":"X","cat":"cpu_op","name":"far","pid":10,"tid":139637976762176,"ts":2305843009213693.951,"dur":0.001},)"
      R"({"ph":"X","cat":"cpu_op","name":"","pid":10,"tid":1,"ts":5,"dur":-3},)"
      R"({"ph":"M","name":"process_name","pid":10,"tid":0,"ts":0,"args":{"name":"python3"}},)"
      R"({"ph":"M","name":"thread_name","pid":10,"tid":11,"ts":0,"args":{"name":"main"}})";
  write_file(
      folder / "t.json",
      kineto_document(events,
                      R"("baseTimeNanoseconds": 17, "distributedInfo": {"rank": 2, "world_size": 4},)"
                      R"("deviceProperties": [{"id": 1, "name": "B200"}, {"id": 0, "name": "H200", "numSms": 132}],)"));
  EXPECT_EQ(difference(folder / "t.json"), "");
}

TEST(ImportRoundTrip, AnExportWithEverything) {
  const TempFolder folder;
  const std::uint64_t first = make_global_pid(100);
  const std::uint64_t second = make_global_pid(200);
  make_database(
      folder / "t.sqlite",
      fmt::format(
          "CREATE TABLE StringIds(id, value);"
          "INSERT INTO StringIds VALUES(1, 'void f<int>(int)'), (2, 'f'), (3, 'cudaLaunchKernel'), (4, '_Z1fv'), (5, "
          "'main');"
          "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, streamId, correlationId, globalPid,"
          " demangledName, shortName, mangledName, gridX, gridY, gridZ, blockX, blockY, blockZ, registersPerThread, "
          "graphNodeId,"
          " clusterX, clusterY, clusterZ);"
          "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(10, 20, 0, 1, 7, 1, {0}, 1, 2, 4, 1, 2, 3, 4, 5, 6, 32, 9, 2, "
          "1, 1),"
          " (30, 40, 1, 1, 7, 1, {1}, 1, 2, NULL, 1, 2, 3, 4, 5, 6, 32, NULL, NULL, NULL, NULL), (50, 45, 1, 1, 7, 1, "
          "{1}, 1, 2,"
          " NULL, 1, 1, 1, 1, 1, 1, 1, NULL, NULL, NULL, NULL);"
          "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start, end, deviceId, streamId, globalPid, bytes, copyKind, "
          "srcKind, dstKind,"
          " srcDeviceId, dstDeviceId);"
          "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(50, 60, 0, 8, {0}, 64, 10, 2, 5, 0, 1);"
          "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, eventClass, globalTid, correlationId, nameId, "
          "returnValue);"
          "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(1, 5, 0, {2}, 1, 3, 0), (2, 4, 1, {2}, 1, 3, 0), (6, 7, 0, "
          "{3}, 1, 3, 1);"
          "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start, end, deviceId, streamId, globalPid, syncType, "
          "eventId);"
          "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES(70, 80, 0, 7, {0}, 3, 0);"
          "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start, end, deviceId, streamId, globalPid, graphId, "
          "graphExecId);"
          "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES(90, 95, 1, 7, {1}, 3, 4);"
          "CREATE TABLE NVTX_EVENTS(start, end, eventType, text, textId, globalTid, domainId, doubleValue, jsonText);"
          "INSERT INTO NVTX_EVENTS VALUES(0, NULL, 75, 'mine', NULL, {2}, 5, NULL, NULL), (1, 9, 59, 'step', NULL, "
          "{2}, 5, 0.5, NULL),"
          " (2, NULL, 59, NULL, 5, {2}, 5, NULL, '{{\"a\":1}}'), (3, NULL, 34, 'mark', NULL, {3}, 0, NULL, NULL);"
          "CREATE TABLE PROCESSES(globalPid, pid, name); INSERT INTO PROCESSES VALUES({0}, 100, 'python');"
          "CREATE TABLE ThreadNames(nameId, globalTid); INSERT INTO ThreadNames VALUES(5, {2}), (5, {3});"
          "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs); INSERT INTO TARGET_INFO_SESSION_START_TIME "
          "VALUES(77);"
          "CREATE TABLE TARGET_INFO_GPU(id, name, uuid, totalMemory, smCount, computeMajor, computeMinor);"
          "INSERT INTO TARGET_INFO_GPU VALUES(0, 'H100', 'GPU-a', 80, 132, 9, 0), (1, 'H100', 'GPU-b', 80, 132, 9, 0);"
          "CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId, cudaId, pid);"
          "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES(0, 0, 100), (1, 1, 200);"
          "CREATE TABLE TARGET_INFO_SYSTEM_ENV(name, value); INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES('CpuModel', "
          "'EPYC');"
          "CREATE TABLE GPU_METRICS(timestamp); INSERT INTO GPU_METRICS VALUES(1)",
          first, second, first + 1, second + 1));
  EXPECT_EQ(difference(folder / "t.sqlite"), "");
}

}  // namespace
}  // namespace swinscope::test
