// What `swin infer --images` says at its end, whatever it did with the files.
#pragma once

#include <cstddef>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "workloads/images/image_files.h"

namespace swinscope {

// Names what was skipped, on standard error and among the document's warnings. Throws WorkloadError (kInput) where
// `done`, the number of files that could be read, is 0.
void warn_of_skipped(std::size_t done, const std::vector<SkippedPath>& skipped, nlohmann::ordered_json& document);
// [{path, reason}]
nlohmann::ordered_json describe_skipped(const std::vector<SkippedPath>& skipped);
// Paths may be no UTF-8.
void print_document(const nlohmann::ordered_json& document);
// The exit status: that of damaged input when files were skipped.
int status_of_files(const std::vector<SkippedPath>& skipped);

}  // namespace swinscope
