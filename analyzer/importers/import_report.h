// What an importer has to say about its input besides the records.
#pragma once

#include <string>
#include <vector>

namespace swinscope {

struct ImportReport {
  std::string description;            // e.g. "PyTorch trace (Kineto), 180144 events"
  std::vector<std::string> warnings;  // one line each
  bool corrupt = false;               // part of the input is lost for good (truncated, damaged)
  std::vector<std::string> doubts;    // why figures may be wrong or incomplete, one line each (Trace::doubts)
};

}  // namespace swinscope
