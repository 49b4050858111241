#include "analyzer/base/byte_source.h"

#include "tests/unit/analyzer/support.h"

namespace swinscope::test {
namespace {

// Text that does not compress to nothing.
std::string sample(std::size_t size) {
  std::string text;
  std::uint32_t state = 1;
  while (text.size() < size) {
    state = state * 1664525U + 1013904223U;
    text += static_cast<char>('a' + (state >> 24U) % 26);
  }
  return text;
}

class ByteSourceTest : public testing::Test {
 protected:
  // Everything that the source delivers, read in pieces of one size.
  std::string drain(const std::string& bytes, std::size_t piece = 1000) {
    write_file(folder_ / "file", bytes);
    ByteSource source(folder_ / "file");
    std::string all;
    std::vector<char> buffer(piece);
    while (const std::size_t count = source.read(buffer))
      all.append(buffer.data(), count);
    EXPECT_EQ(source.read(buffer), 0U);  // the end stays the end
    EXPECT_EQ(source.bytes_read(), all.size());
    damage_ = source.damage();
    return all;
  }

  TempFolder folder_;
  std::string damage_;
};

TEST_F(ByteSourceTest, PlainBytes) {
  for (const std::string& bytes : {std::string(), std::string("x"), std::string("\x1F"), sample(200'000)}) {
    EXPECT_EQ(drain(bytes), bytes);
    EXPECT_EQ(damage_, "");
  }
}

TEST_F(ByteSourceTest, Gzip) {
  const std::string text = sample(300'000);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{65536}, std::size_t{1'000'000}}) {
    EXPECT_EQ(drain(gzip(text), piece), text);
    EXPECT_EQ(damage_, "");
  }
}

TEST_F(ByteSourceTest, GzipOfNothing) {
  EXPECT_EQ(drain(gzip("")), "");
  EXPECT_EQ(damage_, "");
}

TEST_F(ByteSourceTest, SeveralMembers) {
  const std::string first = sample(100'000);
  EXPECT_EQ(drain(gzip(first) + gzip("") + gzip("end"), 333), first + "end");
  EXPECT_EQ(damage_, "");
}

// Tools for tapes fill the last block with zeros; gzip reads such files.
TEST_F(ByteSourceTest, ZerosBehindTheLastMember) {
  EXPECT_EQ(drain(gzip("end") + std::string(1000, '\0')), "end");
  EXPECT_EQ(damage_, "");
}

TEST_F(ByteSourceTest, GarbageBehindTheLastMemberIsDamage) {
  EXPECT_EQ(drain(gzip("end") + "garbage"), "end");
  EXPECT_EQ(damage_, "the compressed data is damaged");
}

TEST_F(ByteSourceTest, TruncatedAnywhereDeliversWhatCameBefore) {
  const std::string text = sample(2000);
  const std::string packed = gzip(text);
  for (std::size_t size = 2; size < packed.size(); ++size) {
    const std::string got = drain(packed.substr(0, size));
    EXPECT_EQ(got, text.substr(0, got.size())) << size;
    EXPECT_EQ(damage_, "the compressed file is truncated") << size;
  }
}

// At the end of its input zlib may hold output that did not fit into the piece before.
TEST_F(ByteSourceTest, TruncatedDeliversTheSameInPiecesOfAnySize) {
  std::string text;
  for (int i = 0; i < 200; ++i)
    text += fmt::format("the same again and again {}", i % 7);
  const std::string packed = gzip(text);
  for (std::size_t size = 10; size < packed.size(); ++size) {
    const std::string whole = drain(packed.substr(0, size), 100'000);
    EXPECT_EQ(drain(packed.substr(0, size), 1), whole) << size;
    EXPECT_EQ(drain(packed.substr(0, size), 97), whole) << size;
    EXPECT_EQ(damage_, "the compressed file is truncated") << size;
  }
}

TEST_F(ByteSourceTest, TruncatedInTheSecondMember) {
  const std::string packed = gzip("first") + gzip(sample(1000));
  EXPECT_EQ(drain(packed.substr(0, gzip("first").size() + 5)), "first");
  EXPECT_EQ(damage_, "the compressed file is truncated");
}

TEST_F(ByteSourceTest, AWrongChecksumIsDamage) {
  const std::string text = sample(5000);
  std::string packed = gzip(text);
  packed[packed.size() - 8] = static_cast<char>(packed[packed.size() - 8] ^ 1);
  EXPECT_EQ(drain(packed), text);
  EXPECT_EQ(damage_, "the compressed data is damaged");
}

TEST_F(ByteSourceTest, FlippedBitsAreNeverSilent) {
  const std::string text = sample(3000);
  const std::string packed = gzip(text);
  for (std::size_t at = 10; at < packed.size(); at += 7) {  // behind the header, whose time stamp is free
    std::string flipped = packed;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    drain(flipped);
    EXPECT_NE(damage_, "") << at;
  }
}

// How much comes out before damage is found may depend on the room that a library has, never on what is asked for.
TEST_F(ByteSourceTest, DamagedDeliversTheSameInPiecesOfAnySize) {
  std::string text = sample(1000);
  for (int i = 0; i < 200; ++i)
    text += fmt::format("the same again and again {}", i % 7);
  const std::string packed = gzip(text);
  for (std::size_t at = 10; at < packed.size(); at += 5) {
    std::string flipped = gzip("before") + packed;
    flipped[flipped.size() - at] = static_cast<char>(flipped[flipped.size() - at] ^ 0x11);
    const std::string whole = drain(flipped, 100'000);
    const std::string damage = damage_;
    for (const std::size_t piece : {std::size_t{1}, std::size_t{97}, std::size_t{65536}, std::size_t{65537}}) {
      EXPECT_EQ(drain(flipped, piece), whole) << at << " in pieces of " << piece;
      EXPECT_EQ(damage_, damage) << at;
    }
  }
}

TEST_F(ByteSourceTest, ABombIsRefused) {
  // Zeros shrink a thousandfold: members that expand to 1.25 GiB together, in 1.3 MB.
  std::string bomb;
  const std::string member = gzip(std::string(std::size_t{64} << 20U, '\0'), Z_BEST_COMPRESSION);
  for (int i = 0; i < 20; ++i)
    bomb += member;
  write_file(folder_ / "bomb", bomb);
  ByteSource source(folder_ / "bomb");
  std::vector<char> buffer(1U << 20U);
  const auto error = error_of([&] {
    while (source.read(buffer) > 0)
      continue;
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kInput);
  EXPECT_EQ(error->what(), (folder_ / "bomb").string() + ": expands beyond 1073741824 bytes");
  EXPECT_LE(source.bytes_read(), (std::uint64_t{1} << 30U) + buffer.size());
}

TEST_F(ByteSourceTest, AMissingFileIsNamed) {
  const auto error = error_of([&] { ByteSource(folder_ / "none"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kInput);
  EXPECT_EQ(error->what(), (folder_ / "none").string() + ": cannot be read");
  EXPECT_EQ(error->cause(), "No such file or directory");
}

TEST_F(ByteSourceTest, AFolderCannotBeRead) {
  ByteSource source(folder_.path());
  std::vector<char> buffer(10);
  EXPECT_EQ(source.read(buffer), 0U);
  EXPECT_STREQ(source.damage(), "reading the file failed");
}

}  // namespace
}  // namespace swinscope::test
