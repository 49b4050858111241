#include "workloads/safetensors.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/error.h"
#include "workloads/safetensors_writer.h"

namespace swinscope {
namespace {

using testing::HasSubstr;

class Safetensors : public testing::Test {
 protected:
  Safetensors() : path_(std::filesystem::temp_directory_path() / ("swinscope-st-" + std::to_string(::getpid()))) {}
  void TearDown() override { std::filesystem::remove(path_); }

  void write_raw(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

  static std::string framed(std::uint64_t header_bytes, const std::string& rest) {
    std::string bytes(sizeof(header_bytes), '\0');
    std::memcpy(bytes.data(), &header_bytes, sizeof(header_bytes));
    return bytes + rest;
  }
  void write_file(const std::string& header, const std::string& data) const {
    write_raw(framed(header.size(), header + data));
  }

  void expect_refused(const std::string& cause) const {
    try {
      const SafetensorsFile file(path_);
      FAIL() << "the file was accepted";
    } catch (const WorkloadError& error) {
      EXPECT_EQ(error.kind(), WorkloadErrorKind::kInput);
      EXPECT_THAT(error.what(), HasSubstr(path_.string()));
      EXPECT_THAT(error.cause(), HasSubstr(cause));
    }
  }

  std::filesystem::path path_;
};

TEST_F(Safetensors, WhatIsWrittenIsRead) {
  const std::vector<float> a = {1.5F, -2.0F, 0.0F, 1e-40F, 3.4e38F, std::numeric_limits<float>::infinity()};
  const std::vector<double> b = {0.1, -1e300};
  const std::vector<TensorSource> tensors = {{"a", {2, 3}, a, {}}, {"b.c", {2}, {}, b}};
  write_safetensors(path_, tensors, {{"made", "here \"quoted\""}});
  const SafetensorsFile file(path_);
  ASSERT_EQ(file.tensors().size(), 2U);
  EXPECT_EQ(file.metadata().at("made"), "here \"quoted\"");
  ASSERT_NE(file.find("a"), nullptr);
  EXPECT_EQ(file.find("a")->shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(file.find("missing"), nullptr);
  std::vector<float> read_a(6);
  file.read<float>(*file.find("a"), read_a);
  EXPECT_EQ(read_a, a);
  std::vector<double> read_b(2);
  file.read<double>(*file.find("b.c"), read_b);
  EXPECT_EQ(read_b, b);
}

TEST_F(Safetensors, AFileWithoutTensorsIsFine) {
  write_safetensors(path_, {}, {});
  EXPECT_TRUE(SafetensorsFile(path_).tensors().empty());
}

TEST_F(Safetensors, LongTensorsAreReadInPieces) {
  std::vector<float> values(700001);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i);
  const std::vector<TensorSource> tensors = {{"x", {700001}, values, {}}};
  write_safetensors(path_, tensors, {});
  const SafetensorsFile file(path_);
  std::vector<float> read(values.size());
  file.read<float>(*file.find("x"), read);
  EXPECT_EQ(read, values);
}

TEST_F(Safetensors, HalfAndBfloatBecomeExactFloats) {
  const std::vector<std::uint16_t> bits = {0x3C00, 0xC000, 0x0001, 0x03FF, 0x0400, 0x7BFF, 0x7C00,
                                           0xFC00, 0x8000, 0x7E00, 0x3F80, 0xC049, 0x0001, 0x7F80};
  std::string data(bits.size() * 2, '\0');
  std::memcpy(data.data(), bits.data(), data.size());
  write_file(
      R"({"h":{"dtype":"F16","shape":[10],"data_offsets":[0,20]},"b":{"dtype":"BF16","shape":[4],"data_offsets":[20,28]}})",
      data);
  const SafetensorsFile file(path_);
  std::vector<float> half(10);
  file.read<float>(*file.find("h"), half);
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> expected = {1.0F,     -2.0F,    0x1p-24F,  0x1.FF8p-15F, 0x1p-14F,
                                       65504.0F, infinity, -infinity, -0.0F};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(half[i]), std::bit_cast<std::uint32_t>(expected[i])) << i;
  }
  EXPECT_TRUE(std::isnan(half[9]));
  std::vector<double> bfloat(4);
  file.read<double>(*file.find("b"), bfloat);
  EXPECT_EQ(bfloat[0], 1.0);
  EXPECT_EQ(bfloat[1], -3.140625);
  EXPECT_EQ(bfloat[2], 0x1p-133);
  EXPECT_EQ(bfloat[3], std::numeric_limits<double>::infinity());
}

TEST_F(Safetensors, RefusesWhatIsNoSafetensorsFile) {
  expect_refused("No such file");
  write_raw("");
  expect_refused("0 bytes");
  write_raw("1234567");
  expect_refused("7 bytes");
  write_raw("PK\x03\x04 this is a zip archive of a pickle");
  expect_refused("is it a safetensors file?");
  write_raw(framed(1000, "{}"));
  expect_refused("claims 1000 bytes");
  write_raw(framed(UINT64_MAX, "{}"));
  expect_refused("claims 18446744073709551615 bytes");
  write_file("[1, 2]", "");
  expect_refused("not a JSON object");
  write_file("{\"a\": ", "");
  expect_refused("header is not JSON at byte 7");
  write_file("{\"a\xFF\": 1}", "");
  expect_refused("header is not JSON at byte 4");
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  expect_refused("not a regular file");
  std::filesystem::remove(path_);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  expect_refused("not a regular file");
}

TEST_F(Safetensors, RefusesHostileHeaders) {
  write_file(std::string(100000, '['), "");
  expect_refused("nested too deeply");
  write_file(
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
      "1234");
  expect_refused("'a' comes twice");
  write_file(R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", "");
  expect_refused("impossible shape");
  write_file(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", "1234");
  expect_refused("impossible shape");
  write_file(R"({"a":{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4]}})", "1234");
  expect_refused("impossible shape");
  write_file(R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})", "1234");
  expect_refused("not made of integers");
  write_file(R"({"a":{"dtype":"F32","shape":1,"data_offsets":[0,4]}})", "1234");
  expect_refused("not a list");
  write_file(R"({"a":{"dtype":"F32","shape":null,"data_offsets":[0,4]}})", "1234");
  expect_refused("not a list");
  write_file(R"({"a":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}})", "1234");
  expect_refused("unknown dtype F31");
  write_file(R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", "1234");
  expect_refused("'a'");
  write_file(R"({"a":7})", "1234");
  expect_refused("'a'");
  write_file(R"({"__metadata__":{"a":[1]}})", "");
  expect_refused("__metadata__");
}

TEST_F(Safetensors, RefusesOffsetsThatDoNotFit) {
  write_file(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", "1234");
  expect_refused("do not hold 8 bytes");
  write_file(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", "1234");
  expect_refused("do not hold 4 bytes");
  write_file(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}})", "1234");
  expect_refused("not two offsets");
  write_file(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", "1234");
  expect_refused("not two offsets");
  write_file(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})", "1234");
  expect_refused("gap or an overlap");
  write_file(
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
      "123456789012");
  expect_refused("gap or an overlap");
  write_file(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "1234");
  expect_refused("cut?");
  write_file(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "12345");
  expect_refused("cut?");
}

TEST_F(Safetensors, IntegersAreListedButNotRead) {
  write_file(R"({"n":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}})", "12345678");
  const SafetensorsFile file(path_);
  std::vector<float> value(1);
  EXPECT_THROW(file.read<float>(*file.find("n"), value), WorkloadError);
}

TEST_F(Safetensors, AFileCutWhileOpenIsReported) {
  const std::vector<float> values(4096, 1.0F);
  const std::vector<TensorSource> tensors = {{"x", {4096}, values, {}}};
  write_safetensors(path_, tensors, {});
  const SafetensorsFile file(path_);
  std::filesystem::resize_file(path_, 1000);
  std::vector<float> read(values.size());
  EXPECT_THROW(file.read<float>(*file.find("x"), read), WorkloadError);
}

// Every prefix of a good file, and every single byte changed, is either refused or read without harm (the sanitized
// build looks).
TEST_F(Safetensors, DamagedFilesDoNoHarm) {
  const std::vector<float> values = {1.0F, 2.0F, 3.0F};
  const std::vector<TensorSource> tensors = {{"weight", {3}, values, {}},
                                             {"w2", {1, 2}, std::span(values).first(2), {}}};
  write_safetensors(path_, tensors, {{"k", "v"}});
  std::string good;
  {
    std::ifstream in(path_, std::ios::binary);
    good.assign(std::istreambuf_iterator<char>(in), {});
  }
  int refused = 0;
  const auto open_and_read = [&] {
    try {
      const SafetensorsFile file(path_);
      for (const auto& [name, entry] : file.tensors()) {
        std::vector<float> read(static_cast<std::size_t>(entry.count));
        file.read<float>(entry, read);
      }
    } catch (const WorkloadError&) {
      ++refused;
    }
  };
  for (std::size_t length = 0; length < good.size(); ++length) {
    write_raw(good.substr(0, length));
    open_and_read();
  }
  EXPECT_EQ(refused, static_cast<int>(good.size()));
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const char value : {'\0', '"', '9', '\xFF'}) {
      std::string bad = good;
      bad[at] = value;
      write_raw(bad);
      open_and_read();
    }
  }
  EXPECT_GT(refused, static_cast<int>(2 * good.size()));
}

}  // namespace
}  // namespace swinscope
