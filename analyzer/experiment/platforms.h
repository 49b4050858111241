// Facts of GPUs and machines, and results that others have published, to stand beside measured ones:
// data/platforms.json.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/platforms_json.h"
#include "analyzer/table/render.h"

namespace swinscope {

struct PublishedPoint {
  int gpus = 0;
  std::optional<double> train_time_hours;
  std::optional<double> speedup;               // over one GPU; efficiency is speedup / GPUs
  std::optional<double> gpu_share, cpu_share;  // 0..1, of the compute time (the thesis's Eq. 3.3)
};

// A scaling experiment of others.
struct PublishedResult {
  std::string key;  // what users say to name it
  std::string name;
  std::string platform;
  std::string workload;
  std::string source;
  std::vector<PublishedPoint> points;  // by GPUs, ascending
};

// Parsed once.
const std::vector<PublishedResult>& published_results();

// Those whose key is `key` or begins with "`key`-", so that one name stands for a source. Throws Error(kUsage) with the
// keys there are.
std::vector<PublishedResult> find_published(std::string_view key);

// The file as tables: GPUs, platforms, published results, sources.
Document platforms_document();

}  // namespace swinscope
