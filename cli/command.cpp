#include "cli/command.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analyzer/importers/open.h"
#include "store/error.h"
#include "store/utf8.h"

namespace swinscope::cli {
namespace {

std::atomic<bool> g_interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");

void on_interrupt(int) {
  g_interrupted = true;
  std::signal(SIGINT, SIG_DFL);  // the second Ctrl+C ends the program at once
}

Format parse_format(const std::string& name) {
  if (name == "json") return Format::kJson;
  if (name == "csv") return Format::kCsv;
  if (name == "md") return Format::kMarkdown;
  return Format::kTable;
}

bool use_color(const std::string& when, bool terminal) {
  if (when != "auto") return when == "always";
  const char* no_color = std::getenv("NO_COLOR");
  return terminal && (no_color == nullptr || *no_color == '\0');
}

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

void CommonOptions::add_to(Command& command) {
  command.option("--format", format, "Output format: table (or text), json, csv or md")
      .one_of({"table", "json", "csv", "md"})
      .also_called("text", "table")
      .variable("SWINSCOPE_FORMAT");
  command.option("-o,--output", output, "Write to this file instead of the standard output");
  command.flag("--force", force, "Replace what exists");
  command.option("--color", color, "Colour: auto (on a terminal, unless NO_COLOR is set), always or never")
      .one_of({"auto", "always", "never"})
      .variable("SWINSCOPE_COLOR");
  command.flag("-q,--quiet", quiet, "No warnings");
  command.flag("-v,--verbose", verbose, "More detail");
}

void CommonOptions::add_class_rules(Command& command) {
  command
      .option("--class", classes,
              "REGEX=KIND: kernels whose full name matches are communication, compute or memory; may be given "
              "several times, the first that matches holds")
      .one_word_each();
  command
      .option("--operation", operations,
              "REGEX=KIND: kernels whose full name matches do this operation: gemm, attention, conv, norm, "
              "elementwise, ...; may be given several times")
      .one_word_each();
}

ClassRules CommonOptions::class_rules() const {
  ClassRules rules;
  const auto add_each = [](const std::vector<std::string>& texts, auto add) {
    for (const std::string& text : texts) {
      // A configuration file gives several as one value, a line each.
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);)
        add(line);
    }
  };
  add_each(classes, [&](const std::string& text) { rules.add_class(text); });
  add_each(operations, [&](const std::string& text) { rules.add_operation(text); });
  return rules;
}

void CommonOptions::warn_of_class_rules() const {
  if (!class_rules().empty()) {
    print_warnings({"--class and --operation do not count for an experiment: give one of its runs"}, *this);
  }
}

void TableOptions::add_sorting_to(Command& command) {
  command.option("--sort", sort, "Sort by this column (its JSON name)");
  command.option("--filter", filter, "Only rows whose name matches this regular expression (RE2)");
  command.flag("-i,--ignore-case", ignore_case, "--filter matches letters whatever their case");
}

void TableOptions::add_to(Command& command) {
  add_sorting_to(command);
  // Not a check for a number in range: CLI11 reads -1 as the largest one.
  command.option("--top", top, "Only the first N rows").not_negative();
}

void TableOptions::apply(Table& table, std::string_view text_column) const {
  if (!filter.empty()) filter_rows(table, text_column, pattern());
  if (!sort.empty()) sort_rows(table, sort);
  if (top) keep_top(table, *top);
}

void NamesOption::add_to(Command& command) {
  command.option("--names", names, "Names of kernels: short, full or mangled (where it was recorded)")
      .one_of({"short", "full", "mangled"})
      .variable("SWINSCOPE_NAMES");
}

NameStyle NamesOption::style() const {
  if (names == "full") return NameStyle::kFull;
  return names == "mangled" ? NameStyle::kMangled : NameStyle::kShort;
}

std::string TableOptions::pattern() const { return ignore_case ? "(?i)" + filter : filter; }

void TableOptions::apply(Document& document) const {
  const auto has_column = [&](const Table& table) {
    return std::ranges::any_of(table.columns, [&](const Column& c) { return c.key == sort || c.title == sort; });
  };
  if (!sort.empty() && !document.tables.empty() && std::ranges::none_of(document.tables, has_column))
    find_column(document.tables.front(), sort);  // throws, saying which there are
  for (Table& table : document.tables) {
    if (!filter.empty()) filter_rows(table, pattern());
    if (!sort.empty() && has_column(table)) sort_rows(table, sort);
    if (top) keep_top(table, *top);
  }
}

void print_error(const Error& error) {
  fmt::print(stderr, "error: {}\n", printable(error.what()));
  if (!error.cause().empty()) fmt::print(stderr, "  cause: {}\n", printable(error.cause()));
  if (!error.hint().empty()) fmt::print(stderr, "  hint: {}\n", printable(error.hint()));
}

const std::atomic<bool>& interrupted() { return g_interrupted; }

void watch_interrupts() { std::signal(SIGINT, on_interrupt); }

Trace open_run(const std::string& path, const CommonOptions& options) {
  OpenOptions how;
  how.cancel = &interrupted();
  how.class_rules = options.class_rules();
  Trace trace = open_trace(path, how);
  print_warnings(trace.warnings, options);
  return trace;
}

void print_warnings(const std::vector<std::string>& warnings, const CommonOptions& options) {
  if (options.quiet) return;
  for (const std::string& warning : warnings)
    fmt::print(stderr, "warning: {}\n", printable(warning));
}

void emit(const Document& whole, const CommonOptions& options) {
  Document document = whole;
  options.tables.apply(document);
  const bool terminal = options.output.empty() && isatty(STDOUT_FILENO) != 0;
  RenderOptions how;
  how.format = parse_format(options.format);
  how.color = use_color(options.color, terminal);
  how.width = terminal ? terminal_width() : 0;
  const std::string text = render(document, how);
  if (!options.output.empty()) {
    write_file(options.output, text, options.force);
    return;
  }
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw Error(ErrorKind::kFailure, "the standard output cannot be written", {}, "check where it is redirected to");
  }
}

void emit_abstention(const Command& command, const Error& error) {
  const auto text = [&](const char* name) {
    const std::optional<Option> option = command.find(name);
    return option ? option->text() : std::string();
  };
  if (text("--format") != "json" || !text("--output").empty()) return;
  Document document;
  document.schema = command.name();
  document.run = text("RUN");
  document.finding = {error.cause().empty() ? error.what() : fmt::format("{}: {}", error.what(), error.cause()), "",
                      ""};
  const std::string json = render(document, {.format = Format::kJson});
  std::fwrite(json.data(), 1, json.size(), stdout);  // what cannot be written changes nothing: the status is 1
  std::fflush(stdout);
}

void write_file(const std::string& path, const std::string& text, bool force) {
  // x: the file is made here or not at all; a link that leads nowhere is not followed.
  std::FILE* const out = std::fopen(path.c_str(), force ? "wbe" : "wbxe");
  if (out == nullptr && errno == EEXIST) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: the file exists", path), {},
                "give another name with -o, or --force to replace it");
  }
  const bool is_open = out != nullptr;
  const bool written = is_open && std::fwrite(text.data(), 1, text.size(), out) == text.size();
  const int reason = errno;
  const bool closed = is_open && std::fclose(out) == 0;
  if (written && closed) return;
  throw Error(ErrorKind::kFailure, fmt::format("{}: cannot be written", path), std::strerror(written ? errno : reason),
              "check the free space and the permissions of its folder");
}

int status_of(const Trace& trace) { return trace.corrupt ? static_cast<int>(ErrorKind::kInput) : 0; }

}  // namespace swinscope::cli
