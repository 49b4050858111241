// What recorders leave in a run folder beside the traces.
#pragma once

#include <filesystem>

namespace swinscope {

// Each further recorder of a run adds run.<host>.<pid>.<n>.json beside run.json. Looks into the file, for a trace may
// have such a name, too.
bool is_recorders_file(const std::filesystem::path& path);

}  // namespace swinscope
