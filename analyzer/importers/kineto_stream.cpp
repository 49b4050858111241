#include "analyzer/importers/kineto_stream.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "analyzer/base/byte_source.h"
#include "analyzer/base/tar_members.h"
#include "analyzer/importers/kineto_event.h"
#include "store/error.h"

namespace swinscope {
namespace {

// Texts of consecutive events in one buffer, and what comes behind them.
struct Batch {
  std::string text;
  std::vector<std::size_t> ends;
  std::int64_t arrows = 0;
  std::optional<KinetoDocument> document;
  std::string other_member;
};

// Hands batches from one thread to another, a few at a time, and their memory back: pages that are new for each of them
// would cost a tenth of the reading.
class BatchQueue {
 public:
  // False when the consumer has gone.
  bool push(Batch batch) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return batches_.size() < kMaxBatches || abandoned_; });
    if (abandoned_) return false;
    batches_.push_back(std::move(batch));
    changed_.notify_all();
    return true;
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  void abandon() {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
    changed_.notify_all();
  }
  // Empty when the producer has closed the queue and all was taken.
  std::optional<Batch> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !batches_.empty() || closed_; });
    if (batches_.empty()) return std::nullopt;
    Batch batch = std::move(batches_.front());
    batches_.pop_front();
    changed_.notify_all();
    return batch;
  }
  void give_back(Batch batch) {
    const std::lock_guard lock(mutex_);
    used_.push_back(std::move(batch));
  }
  // An empty one, with the memory of one that was given back where there is any.
  Batch take_empty() {
    Batch batch;
    const std::lock_guard lock(mutex_);
    if (used_.empty()) return batch;
    batch.text.swap(used_.back().text);
    batch.ends.swap(used_.back().ends);
    used_.pop_back();
    batch.text.clear();
    batch.ends.clear();
    return batch;
  }

 private:
  static constexpr std::size_t kMaxBatches = 4;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> batches_;
  std::vector<Batch> used_;
  bool closed_ = false;
  bool abandoned_ = false;
};

constexpr std::size_t kPieceBytes = std::size_t{1} << 18;
constexpr std::size_t kBatchBytes = std::size_t{1} << 20;

// The reading thread: from the bytes of the file to batches.
class Reader {
 public:
  Reader(const std::filesystem::path& path, std::size_t padding, BatchQueue& queue)
      : path_(path), source_(path), padding_(padding), queue_(queue) {
    begin_document();
  }

  void run() {
    std::vector<char> piece(kPieceBytes);
    std::size_t count = source_.read(piece);
    if (TarMembers::is_tar({piece.data(), count})) {
      TarMembers members(tar_handler());
      for (; is_wanted_ && count > 0; count = source_.read(piece))
        members.feed({piece.data(), count});
      members.finish();
      return;
    }
    for (; is_wanted_ && count > 0; count = source_.read(piece))
      feed({piece.data(), count});
    end_stream();
  }

 private:
  void begin_document() {
    splitter_.emplace(
        [this](std::string_view event) {
          if (is_flow_arrow(event)) {
            ++batch_.arrows;
            return;
          }
          batch_.text.append(event);
          batch_.ends.push_back(batch_.text.size());
        },
        [this](const JsonDocument& json) {
          hand_over_document({json, {}, source_.bytes_read(), member_});
        });
  }

  void feed(std::string_view piece) {
    with_path([&] { splitter_->feed(piece); });
    if (batch_.text.size() >= kBatchBytes) hand_over();
  }

  // The end of a file, or of a member of an archive.
  void end_stream() {
    with_path([&] { splitter_->finish(); });
    KinetoDocument document{splitter_->document(), source_.damage(), source_.bytes_read(), member_};
    document.json.complete &= document.damage.empty();
    hand_over_document(std::move(document));
    begin_document();
  }

  TarMembers::Handler tar_handler() {
    return {[this](const std::string& name) {
              const bool is_json = name.ends_with(".json");
              if (is_json) member_ = name;
              if (!is_json) batch_.other_member = name, hand_over();
              return is_json;
            },
            [this](std::string_view bytes) { feed(bytes); }, [this] { end_stream(); }};
  }

  // The splitter does not know what it reads.
  template <typename Action>
  void with_path(const Action& action) {
    try {
      action();
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("{}: {}", path_.string(), error.what()), error.cause(), error.hint());
    }
  }

  void hand_over_document(KinetoDocument document) {
    batch_.document = std::move(document);
    hand_over();
  }

  void hand_over() {
    batch_.text.resize(batch_.text.size() + padding_, ' ');
    is_wanted_ = is_wanted_ && queue_.push(std::move(batch_));
    batch_ = queue_.take_empty();
    batch_.text.reserve(kBatchBytes + kPieceBytes);
  }

  const std::filesystem::path& path_;
  ByteSource source_;
  std::size_t padding_;
  BatchQueue& queue_;
  std::optional<JsonSplitter> splitter_;
  std::string member_;
  Batch batch_;
  bool is_wanted_ = true;
};

void visit(const Batch& batch, const KinetoVisitor& visitor) {
  std::size_t begin = 0;
  for (const std::size_t end : batch.ends) {
    visitor.on_event(std::string_view(batch.text).substr(begin, end - begin));
    begin = end;
  }
  if (batch.arrows > 0 && visitor.on_arrows) visitor.on_arrows(batch.arrows);
  if (batch.document) visitor.on_document(*batch.document);
  if (!batch.other_member.empty() && visitor.on_other_member) visitor.on_other_member(batch.other_member);
}

}  // namespace

void stream_kineto(const std::filesystem::path& path, std::size_t padding, const std::atomic<bool>* cancel,
                   const KinetoVisitor& visitor) {
  BatchQueue queue;
  std::exception_ptr failure;
  std::thread reader([&] {
    try {
      Reader(path, padding, queue).run();
    } catch (...) {
      failure = std::current_exception();
    }
    queue.close();
  });
  // The reader must be joined whatever the visitor throws.
  const auto join = [&](std::thread* thread) {
    queue.abandon();
    thread->join();
  };
  {
    const std::unique_ptr<std::thread, decltype(join)> joined_at_the_end(&reader, join);
    while (auto batch = queue.pop()) {
      if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) {
        throw Error(ErrorKind::kInput, fmt::format("{}: reading was stopped", path.string()), "cancelled");
      }
      visit(*batch, visitor);
      queue.give_back(std::move(*batch));
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace swinscope
