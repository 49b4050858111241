// What the importer tests share: compressed files and PyTorch traces in a few lines.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <zlib.h>

#include "analyzer/trace/trace.h"
#include "tests/unit/store/support.h"

namespace swinscope::test {

// One gzip member.
inline std::string gzip(std::string_view text, int level = Z_DEFAULT_COMPRESSION) {
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2 failed");
  }
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // zlib does not write there
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int code = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (code != Z_STREAM_END) throw std::runtime_error("deflate failed");
  return packed;
}

inline fs::path real_kineto_trace() {
  return fs::path(SWINSCOPE_SOURCE_DIR) / "data" / "pytorch_swinv2b_upernet_amp_1gpu.kineto.json.gz";
}

// A trace as PyTorch writes it, around the events given as JSON text.
inline std::string kineto_document(std::string_view events, std::string_view before = "", std::string_view after = "") {
  return fmt::format(
      "{{\n  \"schemaVersion\": 1,{}\n  \"traceEvents\": [\n{}\n  ],{}\n  \"traceName\": \"t.json\"\n}}\n", before,
      events, after);
}

// A call of the host and the kernel that it launched; times in microseconds.
inline std::string launch_event(int correlation, double ts, double dur, int pid = 10, int tid = 11) {
  return fmt::format(R"({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": {}, "tid": {}, )"
                     R"("ts": {:.3f}, "dur": {:.3f}, "args": {{"correlation": {}}}}})",
                     pid, tid, ts, dur, correlation);
}
inline std::string kernel_event(int correlation, double ts, double dur,
                                std::string_view name = "void ns::gemm<float>(int)", int stream = 7) {
  return fmt::format(R"({{"ph": "X", "cat": "kernel", "name": "{}", "pid": 0, "tid": {}, "ts": {:.3f}, "dur": {:.3f}, )"
                     R"("args": {{"device": 0, "context": 1, "stream": {}, "correlation": {}, "grid": [4, 5, 6], )"
                     R"("block": [7, 8, 9], "registers per thread": 32, "shared memory": 1024}}}})",
                     name, stream, ts, dur, stream, correlation);
}

// Stream 20 waits for what stream 7 held when correlation 2 recorded event 5, and a kernel goes on after it.
inline std::string waiting_events() {
  const auto call = [](std::string_view name, int correlation, int ts) {
    return fmt::format(R"({{"ph":"X","cat":"cuda_runtime","name":"{}","pid":10,"tid":11,"ts":{},"dur":1,)"
                       R"("args":{{"correlation":{}}}}},)",
                       name, ts, correlation);
  };
  return launch_event(1, 10, 2) + "," + kernel_event(1, 15, 30, "a", 7) + "," + call("cudaEventRecord", 2, 13) +
         call("cudaStreamWaitEvent", 3, 15) + launch_event(4, 17, 2) + "," + kernel_event(4, 47, 3, "b", 20) +
         R"(,{"ph":"X","cat":"cuda_sync","name":"Stream Wait Event","pid":0,"tid":20,"ts":15,"dur":1,"args":{"cuda_sync_kind":)"
         R"("Stream Wait Event","wait_on_stream":7,"wait_on_cuda_event_record_corr_id":2,"wait_on_cuda_event_id":5,)"
         R"("stream":20,"correlation":3,"device":0,"context":1}})";
}

}  // namespace swinscope::test
