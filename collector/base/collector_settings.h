// What `record` tells the processes of its command, through their environment: written and read in this one place.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "collector/base/capture_window.h"
#include "collector/base/trace_options.h"

namespace swinscope {

struct CollectorSettings {
  static constexpr const char* kFolder = "SWINSCOPE_OUT";
  static constexpr const char* kRings = "SWINSCOPE_RINGS";
  static constexpr double kDefaultSampleHz = 10;
  static constexpr double kMaxSampleHz = 1000;

  std::string folder;    // of the run, absolute; empty: nothing is recorded
  std::string rings;     // the folder in memory through which the processes are read; empty: none
  std::string recorder;  // RecorderId::mark()
  std::string clock;     // utc_offset_text(); empty: the offset has to be measured
  double sample_hz = kDefaultSampleHz;
  bool rotates = false;        // at max_bytes the oldest events go, else the file ends
  std::int64_t max_bytes = 0;  // of all trace files together; 0: no limit
  TraceOptions trace;
  WindowOptions window;

  // Variables and their values; from_environment() of a process with them gives the same settings.
  std::map<std::string, std::string> to_environment() const;
  // Of this process. What is not set, or says nothing sensible, is the default. Throws std::bad_alloc.
  static CollectorSettings from_environment();
};

}  // namespace swinscope
