#include "workloads/program/train_session.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "kernels/parallel.h"
#include "workloads/checkpoint.h"
#include "workloads/data/image_pipeline.h"
#include "workloads/error.h"
#include "workloads/program/interrupt.h"
#include "workloads/program/train_log.h"
#include "workloads/program/training_engine.h"
#include "workloads/synthetic_data.h"
#include "workloads/train_progress.h"

namespace swinscope {
namespace {

int loader_threads(const TrainOptions& options) {
  return options.loader_threads > 0 ? options.loader_threads : cpu::thread_count();
}

// Whoever loads a batch comes on.
class AdvancingData : public TrainingData {
 public:
  AdvancingData(TrainingData& data, Communicator& communicator) : data_(data), communicator_(communicator) {}
  void load(std::int64_t first, std::span<float> images, std::span<std::int32_t> labels) override {
    communicator_.advance();
    data_.load(first, images, labels);
  }
  void load(std::int64_t first, std::span<double> images, std::span<std::int32_t> labels) override {
    communicator_.advance();
    data_.load(first, images, labels);
  }

 private:
  TrainingData& data_;
  Communicator& communicator_;
};

class Session {
 public:
  Session(const TrainOptions& options, const SwinConfig& config, const std::map<std::string, std::string>& settings,
          Communicator& communicator)
      : options_(options),
        config_(config),
        settings_(settings),
        communicator_(communicator),
        leads_(communicator.rank() == 0),
        log_(leads_ ? options.log : std::filesystem::path(), options.resume) {
    const std::optional<Checkpoint> checkpoint = find_checkpoint();
    data_ = make_data();
    engine_ = make_engine({checkpoint ? &*checkpoint : nullptr, result_.resumed_at});
    say_how_it_starts(checkpoint);
    progress_.emplace(result_.resumed_at, options.trainer.total_steps, global_batch());
    if (pipeline_ != nullptr) report_skipped();
  }

  TrainResult run() {
    communicator_.barrier();
    std::int64_t begun = result_.resumed_at;
    bool stop = begun >= options_.trainer.total_steps;
    while (!stop) {
      const bool asked = interrupted();
      engine_->step(asked);
      communicator_.advance();
      ++begun;
      const bool last = begun == options_.trainer.total_steps;
      const bool saves =
          !options_.checkpoint.empty() &&
          (last || (options_.checkpoint_every > 0 ? begun % options_.checkpoint_every == 0 : ends_epoch(begun)));
      // Only what needs the device at rest waits for it.
      const bool rests = asked || last || saves || (ends_epoch(begun) && validates());
      bool stopped = false;
      for (const FinishedStep& step : engine_->finished(rests)) {
        account(step.result, step.duration_ns);
        stopped = stopped || step.result.stop;
      }
      stop = stopped || last;
      if (saves || stopped) save(begun);
    }
    if (leads_ && !options_.gradients.empty()) engine_->write_gradients(options_.gradients);
    engine_->describe(result_.device);
    return std::move(result_);
  }

 private:
  std::int64_t global_batch() const { return engine_->global_batch(); }

  bool ends_epoch(std::int64_t step) const {
    return step * global_batch() / options_.dataset_size > (step - 1) * global_batch() / options_.dataset_size;
  }
  bool validates() const { return options_.folders && !options_.folders->validation.files.empty(); }

  // On the leading rank only.
  std::optional<Checkpoint> find_checkpoint() {
    std::optional<Checkpoint> checkpoint;
    if (leads_ && options_.resume) {
      checkpoint = Checkpoint::find(options_.checkpoint);
      if (checkpoint) checkpoint->require_settings(settings_);
      if (checkpoint) result_.resumed_at = checkpoint->state().steps_done;
      if (!options_.run.quiet) {
        fmt::print(stderr, "{}\n",
                   checkpoint ? fmt::format("resuming after step {}", result_.resumed_at)
                              : "no checkpoint yet: starting anew");
      }
    }
    communicator_.broadcast(std::as_writable_bytes(std::span(&result_.resumed_at, 1)), 0);
    return checkpoint;
  }

  std::unique_ptr<TrainingEngine> make_engine(const TrainingStart& start) {
    if (options_.run.device != "cpu") return make_device_engine(options_, config_, start, *data_, communicator_);
    if (options_.run.precision == "fp64") {
      return make_cpu_engine<double>(options_, config_, start, *data_, communicator_);
    }
    return make_cpu_engine<float>(options_, config_, start, *data_, communicator_);
  }

  void say_how_it_starts(const std::optional<Checkpoint>& checkpoint) {
    result_.new_classifier = engine_->new_classifier();
    if (!leads_) return;
    if (result_.new_classifier) {
      fmt::print(stderr, "{}: not for the {} classes of the data: head.fc starts anew, all else is from the file\n",
                 options_.run.weights.string(), config_.classes);
    }
    if (checkpoint && checkpoint->state().algorithms.empty() != (options_.run.device == "cpu")) {
      fmt::print(stderr,
                 "the checkpoint was written on another device: the training goes on, but not to the same bits\n");
    }
  }

  std::unique_ptr<TrainingData> make_data() {
    if (!options_.folders) return std::make_unique<SyntheticData>(config_, options_.dataset_size, options_.run.seed);
    PipelineOptions pipeline;
    pipeline.image_size = config_.image_size;
    pipeline.batch = options_.run.batch;
    pipeline.stride = options_.run.batch * communicator_.size();
    pipeline.first =
        result_.resumed_at * pipeline.stride * options_.trainer.accumulate + communicator_.rank() * options_.run.batch;
    pipeline.workers = loader_threads(options_);
    pipeline.least_area = options_.crop_area;
    pipeline.seed = options_.run.seed;
    auto data = std::make_unique<ImagePipeline>(options_.folders->train, pipeline);
    pipeline_ = data.get();
    return data;
  }

  void account(const StepResult& done, std::int64_t duration_ns) {
    result_.steps.push_back(done);
    const std::int64_t step = result_.resumed_at + static_cast<std::int64_t>(result_.steps.size());
    result_.skipped += done.skipped ? 1 : 0;
    epoch_loss_ += done.loss;
    epoch_accuracy_ += done.accuracy;
    ++epoch_steps_;
    if (step > options_.run.warmup) {
      result_.times.add(duration_ns);
      result_.data_ns += done.data_ns;
    }
    log_.step(step, static_cast<double>(step * global_batch()) / static_cast<double>(options_.dataset_size), done,
              duration_ns, global_batch());
    if (pipeline_ != nullptr) report_skipped();
    if (leads_ && !options_.run.quiet) {
      if (const auto line = progress_->line(step, done, duration_ns, now_ns())) fmt::print(stderr, "{}\n", *line);
    }
    if (!done.stop && (ends_epoch(step) || step == options_.trainer.total_steps)) finish_epoch(step);
  }

  void finish_epoch(std::int64_t step) {
    EpochResult epoch;
    epoch.epoch = (step * global_batch() + options_.dataset_size - 1) / options_.dataset_size;
    epoch.step = step;
    epoch.steps = epoch_steps_;
    epoch.loss = epoch_loss_ / static_cast<double>(epoch_steps_);
    epoch.accuracy = epoch_accuracy_ / static_cast<double>(epoch_steps_);
    if (validates()) epoch.validation = validate();
    epoch_steps_ = 0;
    epoch_loss_ = epoch_accuracy_ = 0.0;
    result_.epochs.push_back(epoch);
    log_.epoch(epoch);
    if (!leads_ || options_.run.quiet || epoch.validation.images == 0) return;
    fmt::print(stderr, "epoch {} (step {}): loss {:.4f}, accuracy {:.1f}%; held out: loss {:.4f}, accuracy {:.1f}%\n",
               epoch.epoch, step, epoch.loss, 100.0 * epoch.accuracy, epoch.validation.loss,
               100.0 * epoch.validation.accuracy);
  }

  Evaluation validate() {
    const ImageFolder& folder = options_.folders->validation;
    PipelineOptions pipeline;
    pipeline.training = false;
    pipeline.image_size = config_.image_size;
    pipeline.batch = options_.run.batch;
    pipeline.stride = options_.run.batch * communicator_.size();
    pipeline.first = communicator_.rank() * options_.run.batch;
    pipeline.workers = loader_threads(options_);
    ImagePipeline data(folder, pipeline);
    AdvancingData advancing(data, communicator_);
    const Evaluation result = engine_->evaluate(advancing, static_cast<std::int64_t>(folder.files.size()));
    for (const SkippedPath& skipped : data.skipped()) {
      if (std::ranges::find(result_.skipped_files, skipped.path, &SkippedPath::path) == result_.skipped_files.end()) {
        report(skipped);
      }
    }
    return result;
  }

  void report_skipped() {
    const std::vector<SkippedPath> all = pipeline_->skipped();
    for (; reported_ < all.size(); ++reported_)
      report(all[reported_]);
  }

  void report(const SkippedPath& skipped) {
    result_.skipped_files.push_back(skipped);
    log_.skipped(skipped);
    fmt::print(stderr, "warning: {}: skipped: {}\n", skipped.path.string(), skipped.reason);
  }

  // A disk that is full now may not be so later: the training goes on, and the last failure is its exit status.
  void save(std::int64_t step) {
    if (!leads_ || options_.checkpoint.empty()) return;
    result_.checkpoint_failure.clear();
    try {
      engine_->save(options_.checkpoint, settings_);
    } catch (const WorkloadError& error) {
      result_.checkpoint_failure = fmt::format("{}: {}", error.what(), error.cause());
      fmt::print(stderr, "warning: no checkpoint of step {}: {}; the previous one is kept\n", step,
                 result_.checkpoint_failure);
    }
  }

  const TrainOptions& options_;
  const SwinConfig& config_;
  const std::map<std::string, std::string>& settings_;
  Communicator& communicator_;
  bool leads_;
  TrainResult result_;
  TrainLog log_;
  std::unique_ptr<TrainingData> data_;
  ImagePipeline* pipeline_ = nullptr;  // data_, if it is one
  std::unique_ptr<TrainingEngine> engine_;
  std::optional<TrainProgress> progress_;
  std::size_t reported_ = 0;  // of the pipeline's skipped files
  std::int64_t epoch_steps_ = 0;
  double epoch_loss_ = 0.0;
  double epoch_accuracy_ = 0.0;
};

}  // namespace

TrainResult run_training(const TrainOptions& options, const SwinConfig& config,
                         const std::map<std::string, std::string>& settings, Communicator& communicator) {
  return Session(options, config, settings, communicator).run();
}

}  // namespace swinscope
