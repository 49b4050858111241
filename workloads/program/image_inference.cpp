#include "workloads/program/image_inference.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "workloads/annotate.h"
#include "workloads/error.h"
#include "workloads/model_cost.h"
#include "workloads/program/file_report.h"
#include "workloads/program/interrupt.h"
#include "workloads/program/say.h"
#include "workloads/program/step_times.h"

namespace swinscope {
namespace {

struct Classified {
  std::string file;
  std::int64_t label = 0;
  double probability = 0.0;
};

struct FileRun {
  StepTimes times;
  std::vector<Classified> files;
};

// The largest logit and its share in the softmax.
Classified classify_row(const std::filesystem::path& file, std::span<const float> logits) {
  if (!std::ranges::all_of(logits, [](float value) { return std::isfinite(value); })) {
    throw WorkloadError(WorkloadErrorKind::kFailure, fmt::format("{}: the logits are not finite", file.string()),
                        "a value left the range of the precision, or the weights are damaged", {});
  }
  const auto largest = std::ranges::max_element(logits);
  double sum = 0.0;
  for (const float value : logits)
    sum += std::exp(static_cast<double>(value) - static_cast<double>(*largest));
  return {file.string(), largest - logits.begin(), 1.0 / sum};
}

FileRun run_batches(ImageReader& reader, const RunOptions& options, const SwinConfig& config,
                    const ClassifyBatch& classify) {
  FileRun run;
  const auto classes = static_cast<std::size_t>(config.classes);
  std::vector<float> images(
      static_cast<std::size_t>(options.batch * kImageChannels * config.image_size * config.image_size));
  for (std::uint64_t batch = 0; !interrupted(); ++batch) {
    const StepRange range({batch, static_cast<std::uint64_t>(options.batch)});
    std::vector<std::filesystem::path> files;
    {
      // The rest of a last batch that is not full keeps older images, whose classes nobody asks for.
      const PhaseRange phase(Phase::kData);
      files = reader.next(options.batch, images);
    }
    if (files.empty()) break;
    const PhaseRange phase(Phase::kForward);
    for (std::int64_t i = 0; batch == 0 && i < options.warmup; ++i)
      classify(images);
    const std::int64_t start_ns = now_ns();
    const std::vector<float> logits = classify(images);
    run.times.add(now_ns() - start_ns);
    for (std::size_t i = 0; i < files.size(); ++i)
      run.files.push_back(classify_row(files[i], std::span(logits).subspan(i * classes, classes)));
  }
  return run;
}

nlohmann::ordered_json describe(const FileRun& run, const ImageReader& reader, const RunOptions& options,
                                const SwinConfig& config) {
  nlohmann::ordered_json row = summarize(run.times, options.batch, model_cost(config).flops());
  row["files_classified"] = run.files.size();
  row["files_skipped"] = reader.skipped().size();
  row["files"] = nlohmann::ordered_json::array();
  for (const Classified& file : run.files)
    row["files"].push_back({{"file", file.file}, {"class", file.label}, {"probability", file.probability}});
  row["skipped"] = describe_skipped(reader.skipped());
  return row;
}

void print_table(const FileRun& run, const ImageReader& reader, const RunOptions& options) {
  for (const Classified& file : run.files)
    fmt::print("{}  class {}  {:.1f} %\n", file.file, file.label, 100.0 * file.probability);
  if (options.quiet || run.times.empty()) return;
  say("{} files classified, {} skipped; {:.3f} ms a batch of {} (median of {})\n", run.files.size(),
      reader.skipped().size(), run.times.percentile_ns(0.5) * 1e-6, options.batch, run.times.count());
}

}  // namespace

int classify_files(ImageReader reader, const RunOptions& options, const SwinConfig& config,
                   nlohmann::ordered_json document, const ClassifyBatch& classify) {
  const FileRun run = run_batches(reader, options, config, classify);
  warn_of_skipped(run.files.size(), reader.skipped(), document);
  if (options.json) {
    document["data"].push_back(describe(run, reader, options, config));
    print_document(document);
  } else {
    print_table(run, reader, options);
  }
  return status_of_files(reader.skipped());
}

}  // namespace swinscope
