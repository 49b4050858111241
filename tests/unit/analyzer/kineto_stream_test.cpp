#include "analyzer/importers/kineto_stream.h"

#include "tests/unit/analyzer/support.h"

namespace swinscope::test {
namespace {

constexpr std::size_t kPadding = 64;

class KinetoStream : public testing::Test {
 protected:
  KinetoDocument stream(const std::string& bytes) {
    write_file(folder_ / "t.json", bytes);
    documents_.clear();
    KinetoVisitor visitor;
    visitor.on_event = [&](std::string_view event) { events_.emplace_back(event); };
    visitor.on_document = [&](const KinetoDocument& document) { documents_.push_back(document); };
    visitor.on_other_member = [&](const std::string& name) { others_.push_back(name); };
    stream_kineto(folder_ / "t.json", kPadding, &cancel_, visitor);
    return documents_.empty() ? KinetoDocument() : documents_.back();
  }
  void stream(const std::function<void(std::string_view)>& on_event, const fs::path& path) {
    KinetoVisitor visitor;
    visitor.on_event = on_event;
    visitor.on_document = [](const KinetoDocument&) {};
    stream_kineto(path, kPadding, nullptr, visitor);
  }

  TempFolder folder_;
  std::atomic<bool> cancel_ = false;
  std::vector<std::string> events_;
  std::vector<KinetoDocument> documents_;
  std::vector<std::string> others_;
};

// More than the pieces, batches and the queue between the threads hold.
std::string many_events(int count) {
  std::string all;
  for (int i = 0; i < count; ++i)
    all += fmt::format(R"({}{{"i":{},"pad":"{}"}})", i == 0 ? "" : ",", i, std::string(100, 'x'));
  return all;
}

TEST_F(KinetoStream, DeliversEveryEventInOrder) {
  constexpr int kEvents = 200'000;
  for (const bool packed : {false, true}) {
    events_.clear();
    const std::string text = kineto_document(many_events(kEvents));
    const KinetoDocument document = stream(packed ? gzip(text, 1) : text);
    ASSERT_EQ(events_.size(), static_cast<std::size_t>(kEvents));
    for (int i = 0; i < kEvents; ++i) {
      ASSERT_EQ(events_[static_cast<std::size_t>(i)].substr(0, 6 + std::to_string(i).size()),
                fmt::format("{{\"i\":{},", i));
    }
    EXPECT_TRUE(document.json.found_events);
    EXPECT_TRUE(document.json.complete);
    EXPECT_EQ(document.damage, "");
    EXPECT_EQ(document.bytes, text.size());
    EXPECT_NE(document.json.skeleton.find("\"traceName\": \"t.json\""), std::string::npos);
  }
}

// In the document that they are of, between events as behind all of them.
TEST_F(KinetoStream, ArrowsAreCountedOnly) {
  constexpr const char* kArrow = R"({"ph":"s","id":1,"pid":0,"tid":0,"ts":1,"cat":"ac2g","name":"ac2g"})";
  KinetoVisitor visitor;
  std::vector<std::int64_t> arrows;  // of each document
  std::int64_t since = 0;
  visitor.on_event = [&](std::string_view event) { events_.emplace_back(event); };
  visitor.on_arrows = [&](std::int64_t count) { since += count; };
  visitor.on_document = [&](const KinetoDocument&) { arrows.push_back(std::exchange(since, 0)); };
  const std::string arrow = kArrow;
  write_file(folder_ / "t.json",
             kineto_document(arrow + R"(,{"i":0},)" + arrow + R"(,{"i":1},)" + arrow) + "\n" + kineto_document(arrow));
  stream_kineto(folder_ / "t.json", kPadding, nullptr, visitor);
  EXPECT_EQ(events_, (std::vector<std::string>{R"({"i":0})", R"({"i":1})"}));
  EXPECT_EQ(arrows, (std::vector<std::int64_t>{3, 1}));
}

// The parser reads a few bytes past the end of each event: they must be there, whichever event of a batch it is.
TEST_F(KinetoStream, PaddingFollowsEveryEvent) {
  write_file(folder_ / "t.json", kineto_document(many_events(30'000)));
  std::size_t sum = 0;
  const auto read_padding = [&](std::string_view event) {
    const char* after = event.data() + event.size();
    for (std::size_t i = 0; i < kPadding; ++i)
      sum += static_cast<unsigned char>(after[i]);
  };
  stream(read_padding, folder_ / "t.json");
  EXPECT_GT(sum, 0U);  // AddressSanitizer is the judge
}

TEST_F(KinetoStream, WhatTheConsumerThrowsComesOut) {
  write_file(folder_ / "t.json", kineto_document(many_events(100'000)));
  int seen = 0;
  const auto stop = [&](std::string_view) {
    if (++seen == 10) throw std::runtime_error("consumer");
  };
  EXPECT_THROW(stream(stop, folder_ / "t.json"), std::runtime_error);
  EXPECT_EQ(seen, 10);
}

TEST_F(KinetoStream, WhatTheReaderThrowsComesOut) {
  const auto error = error_of([&] { stream([](std::string_view) {}, folder_ / "none"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->cause(), "No such file or directory");
  const auto large = error_of([&] { stream(R"({"a":")" + std::string((std::size_t{64} << 20U) + 100, 'x')); });
  ASSERT_TRUE(large);
  EXPECT_EQ(large->what(), (folder_ / "t.json").string() + ": more than 64 MiB outside of \"traceEvents\"");
}

TEST_F(KinetoStream, CancelStops) {
  cancel_ = true;
  const auto error = error_of([&] { stream(kineto_document(many_events(10))); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->cause(), "cancelled");
  EXPECT_EQ(events_.size(), 0U);
}

TEST_F(KinetoStream, DocumentsBehindEachOther) {
  stream(kineto_document(many_events(3)) + "\n" + kineto_document(many_events(20'000), R"("rank": 1,)"));
  ASSERT_EQ(documents_.size(), 2U);
  EXPECT_EQ(events_.size(), 20'003U);
  EXPECT_EQ(documents_[0].json.skeleton.find("\"rank\""), std::string::npos);
  EXPECT_NE(documents_[1].json.skeleton.find("\"rank\""), std::string::npos);
  EXPECT_TRUE(documents_[0].json.complete && documents_[1].json.complete);
}

// A header of one block, the content, and zeros up to the next block.
std::string tar_member(const std::string& name, const std::string& content) {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  const std::string size = fmt::format("{:011o}", content.size());
  header.replace(124, size.size(), size);
  header[156] = '0';
  header.replace(257, 5, "ustar");
  return header + content + std::string((512 - content.size() % 512) % 512, '\0');
}

TEST_F(KinetoStream, MembersOfAnArchiveAreDocuments) {
  const std::string archive = tar_member("a/rank0.json", kineto_document(many_events(5000))) +
                              tar_member("notes.txt", "seen") +
                              tar_member("a/rank1.json", kineto_document(many_events(7))) + std::string(1024, '\0');
  for (const bool packed : {false, true}) {
    events_.clear();
    others_.clear();
    stream(packed ? gzip(archive) : archive);
    ASSERT_EQ(documents_.size(), 2U);
    EXPECT_EQ(events_.size(), 5007U);
    EXPECT_EQ(documents_[0].member, "a/rank0.json");
    EXPECT_EQ(documents_[1].member, "a/rank1.json");
    EXPECT_TRUE(documents_[0].json.complete && documents_[1].json.complete);
    EXPECT_EQ(others_, std::vector<std::string>{"notes.txt"});
  }
}

TEST_F(KinetoStream, ATruncatedFileDeliversItsWholeEvents) {
  const std::string packed = gzip(kineto_document(many_events(20'000)));
  const KinetoDocument document = stream(packed.substr(0, packed.size() / 2));
  EXPECT_FALSE(document.json.complete);
  EXPECT_EQ(document.damage, "the compressed file is truncated");
  EXPECT_GT(events_.size(), 1000U);
  EXPECT_LT(events_.size(), 20'000U);
}

}  // namespace
}  // namespace swinscope::test
