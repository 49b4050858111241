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
#include "workloads/initialize.h"
#include "workloads/program/interrupt.h"
#include "workloads/program/train_log.h"
#include "workloads/synthetic_data.h"
#include "workloads/train_progress.h"

namespace swinscope {
namespace {

int loader_threads(const TrainOptions& options) {
  return options.loader_threads > 0 ? options.loader_threads : cpu::thread_count();
}

template <typename T>
class Session {
 public:
  Session(const TrainOptions& options, const SwinConfig& config, const std::map<std::string, std::string>& settings,
          Communicator& communicator)
      : options_(options),
        config_(config),
        settings_(settings),
        communicator_(communicator),
        leads_(communicator.rank() == 0),
        store_(config, true),
        log_(leads_ ? options.log : std::filesystem::path(), options.resume) {
    std::optional<Checkpoint> checkpoint = find_checkpoint();
    if (!checkpoint) start_from_weights();
    data_ = make_data();
    trainer_ = std::make_unique<Trainer<T>>(config, options.trainer, *data_, store_, communicator);
    restore(checkpoint);
    progress_.emplace(result_.resumed_at, options.trainer.total_steps, global_batch());
    if (pipeline_ != nullptr) report_skipped();
  }

  TrainResult run() {
    communicator_.barrier();
    std::int64_t step = result_.resumed_at;
    bool stop = step >= options_.trainer.total_steps;
    while (!stop) {
      const std::int64_t start_ns = now_ns();
      const StepResult done = trainer_->step(interrupted());
      const std::int64_t duration_ns = now_ns() - start_ns;
      ++step;
      stop = done.stop || step == options_.trainer.total_steps;
      account(step, done, duration_ns);
      const bool epoch_ends =
          step * global_batch() / options_.dataset_size > (step - 1) * global_batch() / options_.dataset_size;
      if (!done.stop && (epoch_ends || stop)) finish_epoch(step);
      if (stop || (options_.checkpoint_every > 0 ? step % options_.checkpoint_every == 0 : epoch_ends)) save(step);
    }
    return std::move(result_);
  }

 private:
  std::int64_t global_batch() const { return trainer_->global_batch(); }

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

  void start_from_weights() {
    initialize_parameters(store_, config_.version, options_.run.seed);
    result_.new_classifier = load_weights_to_train(options_.run, store_) == GivenWeights::kWithoutClassifier;
    if (!result_.new_classifier || !leads_) return;
    fmt::print(stderr, "{}: not for the {} classes of the data: head.fc starts anew, all else is from the file\n",
               options_.run.weights.string(), config_.classes);
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

  // The trainer has sent the leading rank's parameters to all; here follows the rest.
  void restore(const std::optional<Checkpoint>& checkpoint) {
    if (result_.resumed_at == 0) return;
    const auto moments = trainer_->optimizer().moments();
    std::int64_t optimizer_steps = 0;
    if (checkpoint) {
      checkpoint->read(store_, moments);
      optimizer_steps = checkpoint->state().optimizer_steps;
    }
    communicator_.broadcast(std::as_writable_bytes(store_.values()), 0);
    communicator_.broadcast(std::as_writable_bytes(moments.first), 0);
    communicator_.broadcast(std::as_writable_bytes(moments.second), 0);
    communicator_.broadcast(std::as_writable_bytes(std::span(&optimizer_steps, 1)), 0);
    trainer_->optimizer().set_steps(optimizer_steps);
    trainer_->set_steps_done(result_.resumed_at);
  }

  void account(std::int64_t step, const StepResult& done, std::int64_t duration_ns) {
    result_.steps.push_back(done);
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
    if (!leads_ || options_.run.quiet) return;
    if (const auto line = progress_->line(step, done, duration_ns, now_ns())) fmt::print(stderr, "{}\n", *line);
  }

  void finish_epoch(std::int64_t step) {
    EpochResult epoch;
    epoch.epoch = (step * global_batch() + options_.dataset_size - 1) / options_.dataset_size;
    epoch.step = step;
    epoch.steps = epoch_steps_;
    epoch.loss = epoch_loss_ / static_cast<double>(epoch_steps_);
    epoch.accuracy = epoch_accuracy_ / static_cast<double>(epoch_steps_);
    if (options_.folders && !options_.folders->validation.files.empty()) epoch.validation = validate();
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
    if (!evaluator_) {
      evaluator_ = std::make_unique<Evaluator<T>>(config_, options_.run.batch, store_, communicator_);
    }
    const ImageFolder& folder = options_.folders->validation;
    PipelineOptions pipeline;
    pipeline.training = false;
    pipeline.image_size = config_.image_size;
    pipeline.batch = options_.run.batch;
    pipeline.stride = options_.run.batch * communicator_.size();
    pipeline.first = communicator_.rank() * options_.run.batch;
    pipeline.workers = loader_threads(options_);
    ImagePipeline data(folder, pipeline);
    const Evaluation result = evaluator_->evaluate(data, static_cast<std::int64_t>(folder.files.size()));
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
      write_checkpoint<T>(options_.checkpoint, {step, trainer_->optimizer().steps(), settings_}, store_,
                          trainer_->optimizer().moments());
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
  ParameterStore<T> store_;
  TrainLog log_;
  std::unique_ptr<TrainingData> data_;
  ImagePipeline* pipeline_ = nullptr;  // data_, if it is one
  std::unique_ptr<Trainer<T>> trainer_;
  std::unique_ptr<Evaluator<T>> evaluator_;
  std::optional<TrainProgress> progress_;
  std::size_t reported_ = 0;  // of the pipeline's skipped files
  std::int64_t epoch_steps_ = 0;
  double epoch_loss_ = 0.0;
  double epoch_accuracy_ = 0.0;
};

}  // namespace

template <typename T>
TrainResult run_training(const TrainOptions& options, const SwinConfig& config,
                         const std::map<std::string, std::string>& settings, Communicator& communicator) {
  return Session<T>(options, config, settings, communicator).run();
}

template TrainResult run_training<float>(const TrainOptions&, const SwinConfig&,
                                         const std::map<std::string, std::string>&, Communicator&);
template TrainResult run_training<double>(const TrainOptions&, const SwinConfig&,
                                          const std::map<std::string, std::string>&, Communicator&);

}  // namespace swinscope
