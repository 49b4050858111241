// Several scaling experiments, and published ones, beside each other: the thesis's figures 6 to 8.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/experiment/experiment.h"
#include "analyzer/experiment/platforms.h"
#include "analyzer/table/render.h"

namespace swinscope {

// One line in every chart.
struct ComparedSeries {
  std::string name;
  std::vector<ScalingRow> rows;      // by GPUs; what is not known of a published result is 0 or nothing
  std::vector<Fact> configuration;   // where measured series differ in it, the comparison says so
  std::vector<std::string> command;  // empty: not known
  std::int64_t images = 0;           // of the training whose time is extrapolated; 0: not known
  bool is_published = false;
};

ComparedSeries compared_series(const PublishedResult& published);
// Named after its folder. `environment`: of a run of it.
ComparedSeries compared_series(const Experiment& experiment, std::vector<ScalingRow> rows,
                               const std::vector<Fact>& environment);

// The first one is the base that the others' times are divided by, GPU count by GPU count. Differences of configuration
// come first, and unlike tasks are said before any ratio; then absolute training time: a slow first point inflates
// speedup. There must be a series.
Document comparison_document(const std::vector<ComparedSeries>& series);

// The experiment at a path, or those directly below the folder there, by name; none where there is none.
std::vector<std::filesystem::path> experiments_at(const std::filesystem::path& path);

}  // namespace swinscope
