// The folder whose runs may be read.
#pragma once

#include <filesystem>
#include <string>

#include "analyzer/table/render.h"

namespace swinscope::mcp {

class Root {
 public:
  // Throws Error(kInput) where there is no such folder.
  explicit Root(const std::filesystem::path& folder);

  // Where a run stands that is named by a path below the folder, or from it. Throws Error(kUsage) for what leads
  // outside, by links, too, and Error(kInput) for what is not there.
  std::string run(const std::string& named) const;

  // The runs and traces below the folder by their paths from it: those of a folder are one run.
  Document runs() const;

 private:
  std::filesystem::path folder_;
};

}  // namespace swinscope::mcp
