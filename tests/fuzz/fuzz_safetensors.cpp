// SafetensorsFile: whatever the bytes, they are refused as bad input, or what was accepted is consistent, can be read,
// and is the same again after it was written.
#include <bit>
#include <cmath>
#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "tests/fuzz/memory_file.h"
#include "workloads/error.h"
#include "workloads/safetensors.h"
#include "workloads/safetensors_writer.h"

namespace swinscope::fuzz {
namespace {

bool same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (std::isnan(a) && std::isnan(b));
}

void expect_same(std::span<const double> a, std::span<const double> b, const std::string& name) {
  expect(a.size() == b.size(), "the number of elements is the same", name);
  for (std::size_t i = 0; i < a.size(); ++i)
    expect(same(a[i], b[i]), "the elements are the same", name);
}

// Narrowing what was read as doubles gives what is read as floats.
std::vector<double> read_both_ways(const SafetensorsFile& file, const TensorEntry& entry) {
  std::vector<double> doubles(static_cast<std::size_t>(entry.count));
  std::vector<float> floats(doubles.size());
  file.read<double>(entry, doubles);
  file.read<float>(entry, floats);
  for (std::size_t i = 0; i < floats.size(); ++i) {
    expect(same(static_cast<double>(static_cast<float>(doubles[i])), static_cast<double>(floats[i])),
           "floats are narrowed doubles", entry.name);
  }
  return doubles;
}

void check_entries(const SafetensorsFile& file, std::size_t file_bytes) {
  std::uint64_t bytes = 0;
  for (const auto& [name, entry] : file.tensors()) {
    std::int64_t count = 1;
    for (const std::int64_t extent : entry.shape)
      count *= extent;
    expect(entry.name == name && file.find(name) == &entry, "a tensor is found by its name", name);
    expect(entry.count == count, "the count is that of the shape", name);
    expect(entry.begin <= entry.end && entry.end <= file_bytes, "a tensor lies in the file", name);
    bytes += entry.end - entry.begin;
  }
  expect(bytes < file_bytes, "the tensors do not overlap");
}

void check_written_again(const SafetensorsFile& file) {
  static const MemoryFolder folder;
  const std::filesystem::path path = folder.path() / "again";
  std::list<std::vector<double>> values;
  std::vector<TensorSource> sources;
  for (const auto& [name, entry] : file.tensors()) {
    if (entry.type == TensorType::kOther) continue;
    sources.push_back({name, entry.shape, {}, values.emplace_back(read_both_ways(file, entry))});
  }
  write_safetensors(path, sources, {file.metadata().begin(), file.metadata().end()});
  const SafetensorsFile again(path);
  expect(again.metadata() == file.metadata(), "the metadata are the same");
  expect(again.tensors().size() == sources.size(), "the tensors are the same");
  for (const TensorSource& source : sources) {
    const TensorEntry* const entry = again.find(source.name);
    expect(entry != nullptr && entry->shape == source.shape, "a tensor has its name and shape", source.name);
    expect_same(read_both_ways(again, *entry), source.doubles, source.name);
  }
}

}  // namespace
}  // namespace swinscope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace swinscope;
  const fuzz::MemoryFile memory(std::string_view(reinterpret_cast<const char*>(data), size));
  try {
    const SafetensorsFile file(memory.path());
    fuzz::check_entries(file, size);
    fuzz::check_written_again(file);
  } catch (const WorkloadError& error) {
    fuzz::expect(error.kind() == WorkloadErrorKind::kInput, "the error is one of the input", error.what());
    fuzz::expect(!error.cause().empty(), "the error says why", error.what());
  }
  return 0;
}
