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

}  // namespace swinscope::test
