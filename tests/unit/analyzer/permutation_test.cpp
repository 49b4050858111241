// The order in which a file has its rows, or its events, is nothing: every table of a run stays what it is.
#include <algorithm>
#include <array>
#include <random>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "analyzer/base/byte_source.h"
#include "analyzer/importers/open.h"
#include "analyzer/report/documents.h"
#include "analyzer/report/registry.h"
#include "analyzer/table/render.h"
#include "tests/unit/store/support.h"

namespace swinscope::test {
namespace {

fs::path recording(const char* name) { return fs::path(SWINSCOPE_SOURCE_DIR) / "data" / name; }

// What `analyze --format json` says, and every table that it leaves to other commands.
std::string figures_of(const fs::path& path) {
  const Trace trace = open_trace(path);
  const RunFacts run(trace, {});
  Document document = analyze_document(run, {.top = 0, .thesis = true, .verdict_facts = true});
  document.run = "the run";
  document.warnings = trace.warnings;
  for (const Analysis& analysis : analyses())
    document.tables.push_back(table_of(analysis, run, {}));
  return render(document, {Format::kJson});
}

std::vector<fs::path> files_at(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  return {fs::directory_iterator(path), fs::directory_iterator()};
}

// Puts the rows of each table into another order: that of their numbers times a prime, modulo a larger one.
void permute_rows(const fs::path& path, int seed) {
  Sqlite db(path);
  for (const std::string& table : db.values("SELECT name FROM sqlite_master WHERE type = 'table'")) {
    db.run(
        fmt::format("CREATE TEMP TABLE permuted AS SELECT * FROM {0} ORDER BY (rowid + {1}) * 7919 % 1000003; "
                    "DELETE FROM {0}; INSERT INTO {0} SELECT * FROM permuted; DROP TABLE permuted",
                    table, seed));
  }
}

TEST(Permutation, OfTheRowsOfARecording) {
  TempFolder folder;
  for (const char* name : {"swinscope_swin_tiny_infer_1gpu.db", "swinscope_swin_tiny_graph_1gpu.db",
                           "swinscope_swin_tiny_ddp_2gpu", "swinscope_swin_large_train_ladder/eager.db"}) {
    const fs::path copy = folder / fs::path(name).filename().string();
    fs::copy(recording(name), copy, fs::copy_options::recursive);
    const std::string expected = figures_of(copy);
    for (const int seed : {1, 2}) {
      for (const fs::path& file : files_at(copy))
        permute_rows(file, seed);
      ASSERT_EQ(figures_of(copy), expected) << name << ", seed " << seed;
    }
  }
}

nlohmann::json read_json(const fs::path& path) {
  ByteSource source(path);
  std::string text;
  std::array<char, 1 << 16> buffer;
  while (const std::size_t size = source.read(buffer))
    text.append(buffer.data(), size);
  return nlohmann::json::parse(text);
}

TEST(Permutation, OfTheEventsOfAProfile) {
  TempFolder folder;
  for (const char* name :
       {"pytorch_swin_tiny_graph_1gpu.kineto.json.gz", "pytorch_swin_tiny_ddp_2gpu/rank0.kineto.json.gz"}) {
    nlohmann::json profile = read_json(recording(name));
    const fs::path path = folder / "profile.json";
    write_file(path, profile.dump());
    const std::string expected = figures_of(path);
    std::mt19937 random(7);
    for (int round = 0; round < 2; ++round) {
      auto& events = profile.at("traceEvents").get_ref<nlohmann::json::array_t&>();
      std::ranges::shuffle(events, random);
      write_file(path, profile.dump());
      ASSERT_EQ(figures_of(path), expected) << name << ", round " << round;
    }
  }
}

}  // namespace
}  // namespace swinscope::test
