// Golden tests: a trace as readable SQL text, and the CSV that `swinscope` is to print of it. CONTRIBUTING.md describes
// the files of a case; scripts/golden.sh runs and updates them.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "tests/integration/run_program.h"

namespace swinscope::tests {
namespace fs = std::filesystem;
namespace {

const fs::path kCases = fs::path(SWINSCOPE_SOURCE_DIR) / "tests" / "golden";

constexpr std::string_view kTrace = "{trace}";  // in commands; may go on: {trace}/rank1.db

bool updating() { return std::getenv("SWINSCOPE_GOLDEN_UPDATE") != nullptr; }

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(kCases)) {
    if (fs::exists(entry.path() / "commands")) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

// The traces.

struct CloseDatabase {
  void operator()(sqlite3* db) const { sqlite3_close(db); }
};
using DatabaseHandle = std::unique_ptr<sqlite3, CloseDatabase>;

void execute(sqlite3* db, const std::string& sql, const std::string& where) {
  if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return;
  throw std::runtime_error(where + ": " + sqlite3_errmsg(db));
}

std::vector<std::string> table_names(sqlite3* db) {
  std::vector<std::string> names;
  const auto collect = [](void* out, int, char** values, char**) {
    static_cast<std::vector<std::string>*>(out)->emplace_back(values[0]);
    return 0;
  };
  sqlite3_exec(db, "SELECT name FROM sqlite_master WHERE type = 'table'", collect, &names, nullptr);
  return names;
}

// Nsight Systems makes only the tables that have rows.
void drop_empty_tables(sqlite3* db) {
  for (const std::string& name : table_names(db)) {
    bool has_rows = false;
    const auto found = [](void* out, int, char**, char**) {
      *static_cast<bool*>(out) = true;
      return 0;
    };
    sqlite3_exec(db, ("SELECT 1 FROM \"" + name + "\" LIMIT 1").c_str(), found, &has_rows, nullptr);
    if (!has_rows) execute(db, "DROP TABLE \"" + name + "\"", name);
  }
}

// The first line of trace.sql names the tables: [own schema], [nsys 3.25] or [no schema].
void build_trace(const fs::path& sql_file, const fs::path& trace) {
  const std::string sql = read_file(sql_file);
  const std::string head = sql.substr(0, sql.find('\n'));
  const auto says = [&](const char* tag) { return head.find(tag) != std::string::npos; };
  sqlite3* raw = nullptr;
  sqlite3_open(trace.c_str(), &raw);
  const DatabaseHandle db(raw);
  if (says("[own schema]")) {
    execute(raw, read_file(fs::path(SWINSCOPE_SOURCE_DIR) / "store" / "schema.sql"), "store/schema.sql");
  } else if (says("[nsys 3.25]")) {
    execute(raw, read_file(kCases / "nsys_3_25.sql"), "nsys_3_25.sql");
  } else if (!says("[no schema]")) {
    throw std::runtime_error(sql_file.string() +
                             ": the first line names none of [own schema], [nsys 3.25], [no schema]");
  }
  if (!says("[no schema]")) execute(raw, read_file(kCases / "shorthand.sql"), "shorthand.sql");
  execute(raw, sql, sql_file.string());
  if (says("[nsys 3.25]")) drop_empty_tables(raw);
}

// A case is a trace, the name of a recording in data/ (a file, or the folder of a run), or an experiment: a folder with
// its JSON files, and a .sql file for each trace file.
fs::path build_input(const fs::path& test_case, const fs::path& folder) {
  if (fs::exists(test_case / "trace.sql")) {
    build_trace(test_case / "trace.sql", folder / "trace.sqlite");
    return "trace.sqlite";
  }
  if (fs::exists(test_case / "recording")) {
    std::string name = read_file(test_case / "recording");
    name.erase(name.find_last_not_of('\n') + 1);
    fs::copy(fs::path(SWINSCOPE_SOURCE_DIR) / "data" / name, folder / name, fs::copy_options::recursive);
    return name;
  }
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(test_case / "experiment")) {
    if (!entry.is_regular_file()) continue;
    fs::path target = folder / fs::relative(entry.path(), test_case);
    fs::create_directories(target.parent_path());
    if (entry.path().extension() == ".sql") {
      build_trace(entry.path(), target.replace_extension(".db"));
    } else {
      fs::copy_file(entry.path(), target);
    }
  }
  return "experiment";
}

// The commands.

struct Command {
  std::string line;
  std::vector<std::string> arguments;
  std::vector<std::string> tables;  // of the output; empty: all of it
  int status = 0;
};

// Words separated by spaces; '…' keeps spaces, and a | of its own begins the names of tables.
Command parse_command(const std::string& line) {
  Command command;
  command.line = line;
  bool naming_tables = false;
  std::optional<std::string> word;
  bool quoted = false;
  for (const char c : line + " ") {
    if (c == '\'') {
      quoted = !quoted;
      word = word.value_or("");
    } else if (quoted || c != ' ') {
      word = word.value_or("") + c;
    } else if (word == "|") {
      naming_tables = true;
      word.reset();
    } else if (word) {
      if (naming_tables) {
        command.tables.push_back(word->substr(0, word->find(',')));
      } else if (command.arguments.empty() && word->compare(0, 5, "exit=") == 0) {
        command.status = std::stoi(word->substr(5));
      } else {
        command.arguments.push_back(*word);
      }
      word.reset();
    }
  }
  if (quoted) throw std::runtime_error("a quote is not closed: " + line);
  return command;
}

std::vector<Command> read_commands(const fs::path& file) {
  std::vector<Command> commands;
  for (const std::string& line : lines_of(read_file(file))) {
    if (!line.empty() && line.front() != '#') commands.push_back(parse_command(line));
  }
  if (commands.empty()) throw std::runtime_error(file.string() + ": no commands");
  return commands;
}

// The named tables of a CSV document with several: each stands behind a line `# name`.
std::string select_tables(const std::string& csv, const std::vector<std::string>& names) {
  if (names.empty()) return csv;
  std::string selected;
  for (const std::string& name : names) {
    bool inside = false;
    bool found = false;
    for (const std::string& line : lines_of(csv)) {
      if (line.compare(0, 2, "# ") == 0) inside = line.substr(2) == name;
      if (!inside || line.empty()) continue;
      if (!found && !selected.empty()) selected += '\n';
      found = true;
      selected += line + '\n';
    }
    if (!found) selected += "(there is no table " + name + ")\n";
  }
  return selected;
}

// Comparing.

// A line diff by the longest common subsequence: `-` expected, `+` actual.
std::string diff(const std::string& expected, const std::string& actual) {
  const std::vector<std::string> a = lines_of(expected);
  const std::vector<std::string> b = lines_of(actual);
  std::vector<std::vector<std::size_t>> common(a.size() + 1, std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      common[i][j] = a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::string out;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      out += "  " + a[i++] + "\n";
      ++j;
    } else if (j == b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1])) {
      out += "- " + a[i++] + "\n";
    } else {
      out += "+ " + b[j++] + "\n";
    }
  }
  return out;
}

// Compares with the expectation; a file that does not exist expects nothing. With --update the file becomes the output.
void expect_file(const std::string& test_case, const std::string& file, const std::string& actual,
                 const std::string& command) {
  const fs::path path = kCases / test_case / file;
  const std::string expected = fs::exists(path) ? read_file(path) : std::string();
  const fs::path beside_build = fs::path(SWINSCOPE_GOLDEN_OUTPUT) / test_case / (file + ".actual");
  fs::remove(beside_build);
  if (actual == expected) return;
  if (updating()) {
    if (actual.empty()) {
      fs::remove(path);
    } else {
      write_file(path, actual);
    }
    return;
  }
  fs::create_directories(beside_build.parent_path());
  write_file(beside_build, actual);
  ADD_FAILURE() << "swinscope " << command << "\n--- " << path.string() << "\n+++ " << beside_build.string() << "\n"
                << diff(expected, actual) << "scripts/golden.sh --update " << test_case << " accepts the new output";
}

class GoldenTest : public testing::TestWithParam<std::string> {};

TEST_P(GoldenTest, PrintsWhatIsExpected) {
  const std::string name = GetParam();
  const std::vector<Command> commands = read_commands(kCases / name / "commands");
  const TemporaryFolder folder;
  const fs::path input = build_input(kCases / name, folder.path());
  // The user's settings must not change the output.
  ProgramOptions options{folder.path(), {"HOME=" + folder.path().string(), "XDG_CONFIG_HOME"}, 0};
  for (const char* variable : {"FORMAT", "COLOR", "NAMES", "DEFINITION", "PROGRESS"}) {
    options.environment.push_back(std::string("SWINSCOPE_") + variable);
  }
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const Command& command = commands[i];
    std::vector<std::string> line = {SWINSCOPE_PROGRAM};
    for (const std::string& argument : command.arguments)
      line.push_back(argument.starts_with(kTrace) ? input.string() + argument.substr(kTrace.size()) : argument);
    line.insert(line.end(), {"--format", "csv"});
    const ProgramResult result = run_program(line, options);
    EXPECT_EQ(result.status, command.status) << "swinscope " << command.line << "\n" << result.err;
    const std::string stem = commands.size() == 1 ? "expected" : std::to_string(i + 1);
    expect_file(name, stem + ".csv", select_tables(result.out, command.tables), command.line);
    expect_file(name, stem + ".err", result.err, command.line);
  }
}

// An expectation that no command belongs to would be kept for nothing.
TEST_P(GoldenTest, HasACommandForEveryExpectation) {
  const std::size_t commands = read_commands(kCases / GetParam() / "commands").size();
  for (const fs::directory_entry& entry : fs::directory_iterator(kCases / GetParam())) {
    const std::string stem = entry.path().stem().string();
    if (entry.path().extension() != ".csv" && entry.path().extension() != ".err") continue;
    bool known = commands == 1 && stem == "expected";
    for (std::size_t i = 1; i <= commands && commands > 1; ++i)
      known |= stem == std::to_string(i);
    EXPECT_TRUE(known) << entry.path() << " belongs to none of the " << commands << " commands";
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, GoldenTest, testing::ValuesIn(case_names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace swinscope::tests
