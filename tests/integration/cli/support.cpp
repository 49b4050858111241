#include "tests/integration/cli/support.h"

#include <sstream>
#include <stdexcept>

#include <sqlite3.h>
#include <zlib.h>

namespace swinscope::tests {
namespace fs = std::filesystem;

CliTest::CliTest() {
  fs::create_directory(home());
  options_.folder = folder();
  options_.environment = {"HOME=" + home().string(), "XDG_CONFIG_HOME", "NO_COLOR", "CI", "TERM=xterm-256color"};
  for (const char* name : {"FORMAT", "COLOR", "NAMES", "DEFINITION", "PROGRESS"}) {
    options_.environment.push_back(std::string("SWINSCOPE_") + name);
  }
}

std::vector<std::string> CliTest::command(const std::vector<std::string>& arguments) {
  std::vector<std::string> line = {SWINSCOPE_PROGRAM};
  line.insert(line.end(), arguments.begin(), arguments.end());
  return line;
}

nlohmann::json CliTest::run_json(std::vector<std::string> arguments, int status) const {
  arguments.insert(arguments.end(), {"--format", "json"});
  const ProgramResult result = run(arguments);
  EXPECT_EQ(result.status, status) << result.err;
  nlohmann::json json = nlohmann::json::parse(result.out, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << "no JSON: " << result.out;
  return json;
}

std::string CliTest::write(const std::string& name, const std::string& content) const {
  write_file(folder() / name, content);
  return name;
}

std::string CliTest::make_database(const std::string& name, const std::string& sql) const {
  sqlite3* db = nullptr;
  sqlite3_open((folder() / name).c_str(), &db);
  const int code = sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr);
  const std::string message = sqlite3_errmsg(db);
  sqlite3_close(db);
  if (code != SQLITE_OK) throw std::runtime_error(name + ": " + message);
  return name;
}

fs::path recording() {
  return fs::path(SWINSCOPE_SOURCE_DIR) / "data" / "pytorch_swinv2b_upernet_amp_1gpu.kineto.json.gz";
}

std::string small_export_sql() {
  return R"(
    CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
    INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.25.0'), ('EXPORT_PRODUCT_VERSION', '2026.2.1.210');
    CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
    INSERT INTO StringIds VALUES (1, 'void ns::gemm<float>(float const*)'), (2, 'gemm'), (3, 'void ns::gelu(float*)'),
                                 (4, 'gelu'), (5, 'cudaLaunchKernel');
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
      streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 2000, 0, 1, 7, 1, 100 << 24, 1, 2),
                                                  (2000, 2500, 0, 1, 7, 2, 100 << 24, 3, 4);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER,
      correlationId INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (100, 200, (100 << 24) + 1, 5, 1);)";
}

std::string own_trace_sql(int version) {
  return read_file(fs::path(SWINSCOPE_SOURCE_DIR) / "store" / "schema.sql") + "INSERT INTO SWINSCOPE_RUN VALUES (" +
         std::to_string(version) +
         ", 'swinscope', '', 0, 1, 100 << 24, 'node', 'train', 1);"
         "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid) VALUES (10, 20, 59, 'x', (100 << 24) + 1);";
}

std::string kineto(const std::vector<std::string>& events) {
  std::string text = R"({"schemaVersion": 1, "traceEvents": [)";
  for (std::size_t i = 0; i < events.size(); ++i)
    text += (i == 0 ? "" : ",") + events[i];
  return text + "]}";
}

std::string kineto_kernel(const std::string& name, const std::string& ts, const std::string& dur) {
  return R"({"ph": "X", "cat": "kernel", "name": ")" + name + R"(", "pid": 0, "tid": 7, "ts": )" + ts + R"(, "dur": )" +
         dur + R"(, "args": {"device": 0, "stream": 7}})";
}

std::string gzip(const std::string& content) {
  z_stream stream{};
  constexpr int kWindowWithGzipHeader = 15 + 16;
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kWindowWithGzipHeader, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2");
  }
  std::string compressed(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
  stream.avail_out = static_cast<uInt>(compressed.size());
  const int code = deflate(&stream, Z_FINISH);
  compressed.resize(stream.total_out);
  deflateEnd(&stream);
  if (code != Z_STREAM_END) throw std::runtime_error("deflate");
  return compressed;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

}  // namespace swinscope::tests
