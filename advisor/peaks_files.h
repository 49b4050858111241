// The files of data/peaks, which are compiled in: what `swin peaks --rates FILE` wrote on GPUs that we measured.
#pragma once

#include <string_view>
#include <vector>

namespace swinscope {

struct PeaksFile {
  std::string_view name;  // "data/peaks/NAME.json"
  std::string_view gpu;   // that it is of
  std::string_view text;
};

const std::vector<PeaksFile>& peaks_files();

}  // namespace swinscope
