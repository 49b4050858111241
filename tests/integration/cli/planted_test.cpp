// Every planted fault of data/planted/ is found, and nothing is found that is not there: expected.json of each says
// what the commands have to say, and what they must not. And the traces are what the generator writes.
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/integration/cli/support.h"

namespace swinscope::tests {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path kPlanted = recording().parent_path() / "planted";

std::vector<std::string> faults() {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(kPlanted))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

class Planted : public CliTest, public testing::WithParamInterface<std::string> {
 protected:
  fs::path place() const { return kPlanted / GetParam(); }

  // "{trace}" is the fault's folder of traces.
  std::vector<std::string> words(const std::string& command) const {
    std::vector<std::string> words;
    std::istringstream in(command);
    for (std::string word; in >> word;) {
      if (word.starts_with("{trace}")) word.replace(0, 7, (place() / "trace").string());
      words.push_back(word);
    }
    return words;
  }

  static const json& at(const json& document, const std::string& pointer) {
    static const json kNothing;
    const json::json_pointer place(pointer);
    return document.contains(place) ? document.at(place) : kNothing;
  }
};

TEST_P(Planted, IsFoundAndNothingElse) {
  const json expected = json::parse(read_file(place() / "expected.json"));
  ASSERT_FALSE(expected["checks"].empty());
  for (const json& check : expected["checks"]) {
    SCOPED_TRACE(check["command"].get<std::string>());
    const json document = run_json(words(check["command"]), check.value("status", 0));
    const json expect = check.value("expect", json::object());
    const json says = check.value("says", json::object());
    const json says_not = check.value("says_not", json::object());
    for (const auto& [pointer, value] : expect.items())
      EXPECT_EQ(at(document, pointer), value) << pointer << " of " << at(document, "/verdict");
    for (const auto& [pointer, texts] : says.items()) {
      for (const json& text : texts)
        EXPECT_THAT(at(document, pointer).dump(), testing::HasSubstr(text.get<std::string>())) << pointer;
    }
    for (const auto& [pointer, texts] : says_not.items()) {
      for (const json& text : texts)
        EXPECT_THAT(at(document, pointer).dump(), testing::Not(testing::HasSubstr(text.get<std::string>()))) << pointer;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Faults, Planted, testing::ValuesIn(faults()), [](const auto& fault) { return fault.param; });

TEST(PlantedTraces, AreWhatTheGeneratorWrites) {
  const TemporaryFolder folder;
  const fs::path script = kPlanted.parent_path().parent_path() / "scripts" / "plant_faults.py";
  ASSERT_EQ(run_program({"python3", script.string(), folder.path().string()}).status, 0);
  int files = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder.path())) {
    if (!entry.is_regular_file()) continue;
    const fs::path same = fs::relative(entry.path(), folder.path());
    EXPECT_TRUE(read_file(entry.path()) == read_file(kPlanted / same)) << same;
    ++files;
  }
  EXPECT_EQ(files, 16);
}

}  // namespace
}  // namespace swinscope::tests
