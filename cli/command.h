// What the sub-commands share: options, output, and how a trace is opened.
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/table/render.h"
#include "analyzer/trace/class_rules.h"
#include "analyzer/trace/kernel_names.h"
#include "analyzer/trace/trace.h"
#include "options/options.h"
#include "store/error.h"

namespace swinscope::cli {

// What of tables is shown, and in which order.
struct TableOptions {
  std::string sort;
  std::string filter;
  bool ignore_case = false;
  std::optional<std::size_t> top;

  void add_to(Command& command);
  // Without --top, where that says something else.
  void add_sorting_to(Command& command);
  // Filters by the text column, sorts, cuts.
  void apply(Table& table, std::string_view text_column) const;
  // Each table: filtered by any text of a row, sorted where it has the column, cut. Throws Error(kUsage) where none has
  // it.
  void apply(Document& document) const;

 private:
  std::string pattern() const;
};

// How names of kernels are shown.
struct NamesOption {
  std::string names = "short";

  void add_to(Command& command);
  NameStyle style() const;
};

// Options that every sub-command takes.
struct CommonOptions {
  std::string format = "table";
  std::string output;  // empty: stdout
  std::string color = "auto";
  bool force = false;
  bool quiet = false;
  bool verbose = false;
  // Of commands that open a trace: "REGEX=KIND" each.
  std::vector<std::string> classes;
  std::vector<std::string> operations;
  TableOptions tables;  // of commands that print several, or whichever: emit() applies them

  void add_to(Command& command);
  void add_class_rules(Command& command);
  // Throws Error(kUsage) when one of them is no rule.
  ClassRules class_rules() const;
  // Of an experiment the runs are read as they are: says so when there are rules.
  void warn_of_class_rules() const;
};

// On stderr, in the layout that every error has.
void print_error(const Error& error);

// Set by the first Ctrl+C: whoever works stops at the next safe place.
const std::atomic<bool>& interrupted();
void watch_interrupts();

// open_trace with the interrupt flag and the user's class rules; warnings go to stderr unless quiet.
Trace open_run(const std::string& path, const CommonOptions& options);

// On stderr, unless quiet.
void print_warnings(const std::vector<std::string>& warnings, const CommonOptions& options);

// Prints or writes the document. Throws Error when the file exists (without --force) or cannot be written.
void emit(const Document& document, const CommonOptions& options);

// Of a command that has nothing to say of its run: with --format json on the standard output, the document that says
// so.
void emit_abstention(const Command& command, const Error& error);

// Throws Error when the file exists (without `force`) or cannot be written.
void write_file(const std::string& path, const std::string& text, bool force);

// A variable whose value an option does not take is ignored by CLI11 2.4 (Ubuntu 24.04), where 2.1 (Debian 12) refuses
// it. To be called before the command runs. Throws Error (kUsage).
void refuse_wrong_variables(const Command& command);

// Where `swinscope gui` looks for the desktop program.
std::filesystem::path gui_program();

// The exit status of a command that printed what could be read of `trace`.
int status_of(const Trace& trace);

// One per sub-command: declares it, and what it does.
void add_advise(Program& program);
void add_analyze(Program& program);
void add_collectives(Program& program);
void add_compare(Program& program);
void add_critical_path(Program& program);
void add_doctor(Program& program);
void add_export(Program& program);
void add_gaps(Program& program);
void add_gate(Program& program);
void add_gui(Program& program);
void add_import(Program& program);
void add_info(Program& program);
void add_join(Program& program);
void add_kernels(Program& program);
void add_launches(Program& program);
void add_launch(Program& program);
void add_layers(Program& program);
void add_mcp(Program& program);
void add_peaks(Program& program);
void add_platforms(Program& program);
void add_predict(Program& program);
void add_query(Program& program);
void add_ranges(Program& program);
void add_ranks(Program& program);
void add_record(Program& program);
void add_trigger(Program& program);
void add_report(Program& program);
void add_roofline(Program& program);
void add_scale(Program& program);
void add_stragglers(Program& program);
void add_sweep(Program& program);

}  // namespace swinscope::cli
