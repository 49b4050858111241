#include "analyzer/importers/file_facts.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "analyzer/base/byte_source.h"
#include "analyzer/importers/kineto_own.h"
#include "analyzer/importers/open.h"
#include "store/reader.h"
#include "store/table_reader.h"

namespace swinscope {
namespace fs = std::filesystem;
namespace {

// Enough for the metadata before the events, with the properties of many GPUs and process groups.
constexpr std::size_t kHeadBytes = std::size_t{1} << 20;

// Reads the facts before the events of a PyTorch trace and the first event of the host, then stops.
class HeadReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeadReader(FileFacts& facts) : facts_(facts) {}

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t value) override { return number(value); }
  bool number_unsigned(number_unsigned_t value) override { return number(static_cast<std::int64_t>(value)); }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    if (in_event() && key_ == "ts" && value < kMaxMicroseconds) ts_ns_ = static_cast<std::int64_t>(value * 1000);
    return true;
  }
  bool string(string_t& value) override {
    if (in_event() && key_ == "cat") category_ = value;
    if (in_own() && key_ == "source") facts_.source = value;
    if (in_own() && key_ == "host") facts_.host = value;
    if (in_own() && key_ == "command") facts_.command = value;
    return true;
  }
  bool binary(binary_t& /*value*/) override { return true; }

  bool start_object(std::size_t /*size*/) override {
    open(false);
    return true;
  }
  bool start_array(std::size_t /*size*/) override {
    open(true);
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool end_object() override {
    if (!in_event()) {
      --depth_;
      return true;
    }
    --depth_;
    const bool host = pid_ > 0 && std::ranges::find(kHostCategories, category_) != kHostCategories.end();
    if (host) take_event();
    pid_ = ts_ns_ = 0;
    category_.clear();
    return !host;
  }
  bool key(string_t& name) override {
    key_ = name;
    if (depth_ == 1) section_ = name;
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

  bool is_own_export() const { return own_rank_is_stated_.has_value(); }
  bool states_rank() const { return own_rank_is_stated_.value_or(true); }

 private:
  static constexpr std::array<std::string_view, 5> kHostCategories = {"cpu_op", "user_annotation", "cuda_runtime",
                                                                      "cuda_driver", "python_function"};
  static constexpr double kMaxMicroseconds = 4e15;

  void open(bool array) {
    if (depth_ == 0 && array) {
      section_ = "traceEvents";  // a trace may be the list alone
      event_depth_ = 2;
    }
    ++depth_;
  }
  // The facts of an export of ours (kineto_own.h).
  bool in_own() const { return depth_ == 2 && section_ == kOwnFacts; }
  bool in_event() const { return depth_ == event_depth_ && section_ == "traceEvents"; }

  bool number(std::int64_t value) {
    if (depth_ == 1 && key_ == "baseTimeNanoseconds") base_ns_ = value;
    if (depth_ == 2 && section_ == "distributedInfo" && key_ == "rank") facts_.rank = static_cast<std::int32_t>(value);
    if (depth_ == 2 && section_ == "distributedInfo" && key_ == "world_size")
      facts_.world_size = static_cast<std::int32_t>(value);
    if (in_own() && key_ == "rank_is_stated") own_rank_is_stated_ = value != 0;
    if (in_own() && key_ == "global_pid") facts_.pid = pid_of(static_cast<std::uint64_t>(value));
    if (in_event() && key_ == "pid") pid_ = value;
    if (in_event() && key_ == "ts" && value < static_cast<std::int64_t>(kMaxMicroseconds)) ts_ns_ = value * 1000;
    return true;
  }

  void take_event() {
    if (!is_own_export()) facts_.pid = static_cast<std::uint64_t>(pid_);
    // Without a base the times are those of the epoch, or of an unknown beginning.
    constexpr std::int64_t kYear2001Ns = 1'000'000'000'000'000'000;
    if (base_ns_ > 0 || ts_ns_ > kYear2001Ns) facts_.begin_utc_ns = base_ns_ + ts_ns_;
  }

  FileFacts& facts_;
  std::optional<bool> own_rank_is_stated_;
  int depth_ = 0;
  int event_depth_ = 3;
  std::string section_;
  std::string key_;
  std::string category_;
  std::int64_t base_ns_ = 0;
  std::int64_t pid_ = 0;
  std::int64_t ts_ns_ = 0;
};

void read_kineto_facts(FileFacts& facts) {
  facts.source = "kineto";
  std::vector<char> head(kHeadBytes);
  ByteSource source(facts.file);
  std::size_t size = 0;
  for (std::size_t more = 1; more > 0 && size < head.size(); size += more)
    more = source.read(std::span(head).subspan(size));
  HeadReader reader(facts);
  const std::string_view text(head.data(), size);
  nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
  if (!reader.states_rank()) facts.rank.reset();
  if (reader.is_own_export()) {
    // rank<N>.<host>.<pid>.<n>.kineto.json, beside rank<N>.kineto.json
    const std::string name = facts.file.filename().string();
    facts.further_process = name.starts_with("rank") && std::ranges::count(name, '.') >= 5;
    return;
  }
  const std::string worker = trace_handler_worker(facts.file);
  if (const std::size_t end = worker.rfind('_'); end != std::string::npos) facts.host = worker.substr(0, end);
}

// Whether a rank of a file of ours was stated when it was recorded or imported.
bool states_rank(Database& db, const FileFacts& facts) {
  if (facts.source == "swinscope") return facts.world_size > 0;
  TableReader rows(db, "SWINSCOPE_COLLECTOR", {"name"}, 1);
  while (rows.next()) {
    if (rows.text(0) == kRankStatedBy) return true;
  }
  return false;
}

void read_identity(Database& db, FileFacts& facts) {
  TableReader rows(db, "SWINSCOPE_RUN", {"source", "rank", "worldSize", "globalPid", "host", "command"}, 6);
  if (!rows.next()) return;
  facts.source = rows.text(0);
  const auto rank = rows.integer<std::int32_t>(1);
  facts.world_size = rows.integer<std::int32_t>(2);
  facts.pid = pid_of(rows.integer<std::uint64_t>(3));
  facts.host = rows.text(4);
  facts.command = rows.text(5);
  facts.launcher = rank == kNoRank;
  if (states_rank(db, facts)) facts.rank = rank;
  // rank<N>.<host>.<pid>.<n>.db, beside rank<N>.db
  const std::string name = facts.file.filename().string();
  facts.further_process = name.starts_with("rank") && std::ranges::count(name, '.') >= 4;
}

void read_database_facts(FileFacts& facts) {
  TraceFile file(facts.file);
  Database& db = file.database();
  facts.source = file.is_own() ? "swinscope" : "nsys";
  std::int64_t epoch_ns = 0;
  if (TableReader rows(db, "TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}, 1); rows.next())
    epoch_ns = rows.integer<std::int64_t>(0);
  TableReader details(db, "ANALYSIS_DETAILS", {"startTime", "stopTime"}, 2);
  if (epoch_ns > 0) {
    facts.begin_utc_ns = epoch_ns;
    if (details.next()) {
      facts.begin_utc_ns = epoch_ns + details.integer<std::int64_t>(0);
      facts.end_utc_ns = epoch_ns + details.integer<std::int64_t>(1);
    }
  }
  if (file.is_own()) return read_identity(db, facts);
  for (const char* table : {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY"}) {
    TableReader rows(db, table, {"globalPid"}, 1);
    if (facts.pid == 0 && rows.next()) facts.pid = pid_of(rows.integer<std::uint64_t>(0));
  }
}

}  // namespace

FileFacts read_file_facts(const fs::path& file) {
  FileFacts facts;
  facts.file = file;
  if (is_trace_database(file)) {
    read_database_facts(facts);
  } else {
    read_kineto_facts(facts);
  }
  return facts;
}

std::string trace_handler_worker(const fs::path& file) {
  constexpr std::string_view kEnding = ".pt.trace.json";
  std::string name = file.filename().string();
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  if (!name.ends_with(kEnding)) return {};
  name.resize(name.size() - kEnding.size());
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot + 1 == name.size()) return {};
  const bool digits = std::all_of(name.begin() + static_cast<std::ptrdiff_t>(dot) + 1, name.end(),
                                  [](unsigned char c) { return std::isdigit(c) != 0; });
  return digits ? name.substr(0, dot) : std::string();
}

}  // namespace swinscope
