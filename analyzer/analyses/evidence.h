// SQL whose rows give a figure that is said of a run, for `swinscope query RUN` and whoever does not take a figure on
// trust. It names the windows of the scope's devices (scope.h) as times of the files, so it gives what the scope has:
//
//   work   kernels, copies and sets that begin in the windows, by name: calls, and the sum of their durations
//   gaps   when a device had nothing to do within its window: they sum to its idle time
// The statement runs on each file of a run; windows of ranks that are in another file count for nothing.
// Empty where SQL cannot say what was selected (--name), or a run has more devices than a statement should list.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/analyses/verdict.h"
#include "analyzer/facts/scope.h"
#include "analyzer/trace/trace.h"

namespace swinscope {

class ScopeSql {
 public:
  ScopeSql() = default;
  ScopeSql(const Trace& trace, const RunScope& scope);

  // Columns name, calls, total_ns; the longest total first. With names: kernels of these alone.
  std::string work(std::span<const std::string> names = {}) const;
  // Those whose name holds NCCL's.
  std::string communication() const;
  // Columns globalPid, deviceId, start, end, gap_ns; the longest first.
  std::string gaps() const;

 private:
  std::string with_tables() const;
  std::string work_where(const std::string& condition) const;

  std::string events_;   // a SELECT of all that devices do; empty: there is no SQL
  std::string windows_;  // VALUES
};

// Of what the verdict says: gaps where the host, its data or nobody knows what bounds the run, else work.
std::string evidence_of(const Verdict& verdict, const ScopeSql& sql);

}  // namespace swinscope
