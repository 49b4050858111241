// The sampled metrics of GPUs as columns: a series for each metric of each GPU.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "store/records.h"

namespace swinscope {

struct MetricSeries {
  MetricSource source = MetricSource::kUnknown;
  std::uint8_t gpu = 0;  // as the sampler numbers them
  std::int32_t metric = 0;
  std::string name;                   // with its unit in brackets, "SM active [%]"; "" where it was not recorded
  std::vector<std::int64_t> time_ns;  // ascending: a sample is the value of the period that ends with it
  std::vector<std::int64_t> value;
};

// Makes them of the records, in whatever order these come.
class MetricSeriesBuilder {
 public:
  void add(const MetricRecord& sample);
  void add(const MetricNameRecord& name);
  // Those of a later window of the same process.
  void append(const MetricSeriesBuilder& later, std::int64_t shift_ns);
  // By source, GPU, metric; metrics of which there is no sample are left out. Empties the builder.
  std::vector<MetricSeries> take();

 private:
  MetricSeries& series_of(MetricSource source, std::uint8_t gpu, std::int32_t metric);

  std::map<std::tuple<MetricSource, std::uint8_t, std::int32_t>, MetricSeries> series_;
};

}  // namespace swinscope
