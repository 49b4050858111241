#include "analyzer/kineto_stream.h"

#include "tests/unit/analyzer/support.h"

namespace swinscope::test {
namespace {

constexpr std::size_t kPadding = 64;

class KinetoStream : public testing::Test {
 protected:
  KinetoDocument stream(const std::string& bytes) {
    write_file(folder_ / "t.json", bytes);
    return stream_kineto_events(folder_ / "t.json", kPadding, &cancel_,
                                [&](std::string_view event) { events_.emplace_back(event); });
  }

  TempFolder folder_;
  std::atomic<bool> cancel_ = false;
  std::vector<std::string> events_;
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
    EXPECT_TRUE(document.found_events);
    EXPECT_TRUE(document.complete);
    EXPECT_STREQ(document.damage, "");
    EXPECT_EQ(document.bytes, text.size());
    EXPECT_NE(document.skeleton.find("\"traceName\": \"t.json\""), std::string::npos);
  }
}

// The parser reads a few bytes past the end of each event: they must be there, whichever event of a batch it is.
TEST_F(KinetoStream, PaddingFollowsEveryEvent) {
  write_file(folder_ / "t.json", kineto_document(many_events(30'000)));
  std::size_t sum = 0;
  stream_kineto_events(folder_ / "t.json", kPadding, nullptr, [&](std::string_view event) {
    const char* after = event.data() + event.size();
    for (std::size_t i = 0; i < kPadding; ++i)
      sum += static_cast<unsigned char>(after[i]);
  });
  EXPECT_GT(sum, 0U);  // AddressSanitizer is the judge
}

TEST_F(KinetoStream, WhatTheConsumerThrowsComesOut) {
  write_file(folder_ / "t.json", kineto_document(many_events(100'000)));
  int seen = 0;
  EXPECT_THROW(stream_kineto_events(folder_ / "t.json", kPadding, nullptr,
                                    [&](std::string_view) {
                                      if (++seen == 10) throw std::runtime_error("consumer");
                                    }),
               std::runtime_error);
  EXPECT_EQ(seen, 10);
}

TEST_F(KinetoStream, WhatTheReaderThrowsComesOut) {
  const auto error =
      error_of([&] { stream_kineto_events(folder_ / "none", kPadding, nullptr, [](std::string_view) {}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->cause(), "No such file or directory");
  EXPECT_TRUE(error_of([&] { stream("{\"a\":\"" + std::string((std::size_t{64} << 20U) + 100, 'x')); }));
}

TEST_F(KinetoStream, CancelStops) {
  cancel_ = true;
  const auto error = error_of([&] { stream(kineto_document(many_events(10))); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->cause(), "cancelled");
  EXPECT_EQ(events_.size(), 0U);
}

TEST_F(KinetoStream, ATruncatedFileDeliversItsWholeEvents) {
  const std::string packed = gzip(kineto_document(many_events(20'000)));
  const KinetoDocument document = stream(packed.substr(0, packed.size() / 2));
  EXPECT_FALSE(document.complete);
  EXPECT_STREQ(document.damage, "the compressed file is truncated");
  EXPECT_GT(events_.size(), 1000U);
  EXPECT_LT(events_.size(), 20'000U);
}

}  // namespace
}  // namespace swinscope::test
