#include "workloads/program/train_session.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "workloads/checkpoint.h"
#include "workloads/error.h"
#include "workloads/program/file_report.h"
#include "workloads/program/interrupt.h"
#include "workloads/program/say.h"
#include "workloads/program/train_input.h"
#include "workloads/program/train_log.h"
#include "workloads/program/training_engine.h"
#include "workloads/train_progress.h"

namespace swinscope {
namespace {

using Json = nlohmann::ordered_json;

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
    input_ = open_training_input(options, config, first_sample(), communicator.size());
    engine_ = make_engine({checkpoint ? &*checkpoint : nullptr, result_.resumed_at});
    say_how_it_starts(checkpoint);
    progress_.emplace(result_.resumed_at, options.trainer.total_steps, global_batch());
    // Each rank has listed the folder, and one tells.
    for (const SkippedPath& skipped : skipped_in_listing(options)) {
      if (count(skipped) && leads_) warn_of(skipped);
    }
    report_skipped();
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
    gather_input_waits();
    gather_skipped();
    if (leads_ && !options_.gradients.empty()) engine_->write_gradients(options_.gradients);
    engine_->describe(result_.device);
    return std::move(result_);
  }

 private:
  std::int64_t global_batch() const { return engine_->global_batch(); }

  bool ends_epoch(std::int64_t step) const {
    return step * global_batch() / options_.dataset_size > (step - 1) * global_batch() / options_.dataset_size;
  }
  bool validates() const { return validation_images(options_) > 0; }

  // On the leading rank only.
  std::optional<Checkpoint> find_checkpoint() {
    std::optional<Checkpoint> checkpoint;
    if (leads_ && options_.resume) {
      checkpoint = Checkpoint::find(options_.checkpoint);
      if (checkpoint) checkpoint->require_settings(settings_);
      if (checkpoint) result_.resumed_at = checkpoint->state().steps_done;
      if (!options_.run.quiet) {
        say("{}\n", checkpoint ? fmt::format("resuming after step {}", result_.resumed_at)
                               : "no checkpoint yet: starting anew");
      }
    }
    communicator_.broadcast(std::as_writable_bytes(std::span(&result_.resumed_at, 1)), 0);
    return checkpoint;
  }

  std::unique_ptr<TrainingEngine> make_engine(const TrainingStart& start) {
    if (options_.run.device != "cpu") return make_device_engine(options_, config_, start, *input_.data, communicator_);
    if (options_.run.precision == "fp64")
      return make_cpu_engine<double>(options_, config_, start, *input_.data, communicator_);
    return make_cpu_engine<float>(options_, config_, start, *input_.data, communicator_);
  }

  void say_how_it_starts(const std::optional<Checkpoint>& checkpoint) {
    result_.new_classifier = engine_->new_classifier();
    if (!leads_) return;
    if (result_.new_classifier && config_.task == Task::kSegmentation) {
      say("{}: without a head for segmentation: that starts anew, all else is from the file\n",
          options_.run.weights.string());
    } else if (result_.new_classifier) {
      say("{}: not for the {} classes of the data: head.fc starts anew, all else is from the file\n",
          options_.run.weights.string(), config_.classes);
    }
    if (checkpoint && checkpoint->state().algorithms.empty() != (options_.run.device == "cpu")) {
      say("the checkpoint was written on another device: the training goes on, but not to the same bits\n");
    }
  }

  std::int64_t first_sample() const {
    const std::int64_t in_step = options_.run.batch * communicator_.size() * options_.trainer.accumulate;
    return result_.resumed_at * in_step + communicator_.rank() * options_.run.batch;
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
      input_wait_ns_ += done.input_wait_ns;
    }
    log_.step(step, static_cast<double>(step * global_batch()) / static_cast<double>(options_.dataset_size), done,
              duration_ns, global_batch());
    report_skipped();
    if (leads_ && !options_.run.quiet) {
      if (const auto line = progress_->line(step, done, duration_ns, now_ns())) say("{}\n", *line);
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
    const std::string overlap = epoch.validation.mean_iou
                                    ? fmt::format(", mean IoU {:.1f}%", 100.0 * *epoch.validation.mean_iou)
                                    : std::string();
    say("epoch {} (step {}): loss {:.4f}, accuracy {:.1f}%; held out: loss {:.4f}, accuracy {:.1f}%{}\n", epoch.epoch,
        step, epoch.loss, 100.0 * epoch.accuracy, epoch.validation.loss, 100.0 * epoch.validation.accuracy, overlap);
  }

  void gather_input_waits() {
    if (result_.times.empty()) return;
    const auto measured_ns = static_cast<double>(result_.times.total_ns());
    result_.input_wait_shares = all_gather(communicator_, static_cast<double>(input_wait_ns_) / measured_ns);
  }

  Evaluation validate() {
    const TrainInput input = open_validation_input(options_, config_, communicator_);
    const std::int64_t images = validation_images(options_);
    Evaluation result = engine_->evaluate(*input.data, images);
    for (const SkippedPath& skipped : input.skipped())
      report(skipped);
    return result;
  }

  void report_skipped() {
    if (!input_.skipped) return;
    const std::vector<SkippedPath> all = input_.skipped();
    for (; reported_ < all.size(); ++reported_)
      report(all[reported_]);
  }

  void report(const SkippedPath& skipped) {
    if (count(skipped)) warn_of(skipped);
  }

  static void warn_of(const SkippedPath& skipped) {
    say("warning: {}: skipped: {}\n", skipped.path.string(), skipped.reason);
  }

  // False where it has been counted before.
  bool count(const SkippedPath& skipped) {
    if (!counted_.insert(skipped.path).second) return false;
    result_.skipped_files.push_back(skipped);
    log_.skipped(skipped);
    return true;
  }

  // Each rank reads files of its own and has warned of them; the summary and the log are of all. CBOR keeps the bytes
  // of a path that is no UTF-8.
  void gather_skipped() {
    for (const auto& of_rank : all_gather(communicator_, Json::to_cbor(describe_skipped(result_.skipped_files)))) {
      for (const Json& file : Json::from_cbor(of_rank))
        count({file["path"].get<std::string>(), file["reason"].get<std::string>()});
    }
  }

  // A disk that is full now may not be so later: the training goes on, and the last failure is its exit status.
  void save(std::int64_t step) {
    if (!leads_ || options_.checkpoint.empty()) return;
    result_.checkpoint_failure.clear();
    try {
      engine_->save(options_.checkpoint, settings_);
    } catch (const WorkloadError& error) {
      result_.checkpoint_failure = fmt::format("{}: {}", error.what(), error.cause());
      say("warning: no checkpoint of step {}: {}; the previous one is kept\n", step, result_.checkpoint_failure);
    }
  }

  const TrainOptions& options_;
  const SwinConfig& config_;
  const std::map<std::string, std::string>& settings_;
  Communicator& communicator_;
  bool leads_;
  TrainResult result_;
  TrainLog log_;
  TrainInput input_;
  std::unique_ptr<TrainingEngine> engine_;
  std::optional<TrainProgress> progress_;
  std::size_t reported_ = 0;  // of the skipped files
  std::set<std::filesystem::path> counted_;
  std::int64_t input_wait_ns_ = 0;  // of the measured steps
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
