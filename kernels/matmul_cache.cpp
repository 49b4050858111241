#include "kernels/matmul_cache.h"

#include <fstream>
#include <sstream>
#include <system_error>

#include <unistd.h>

namespace swinscope::cuda {

AlgorithmTable parse_algorithms(std::istream& in) {
  AlgorithmTable table;
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string shape;
    AlgorithmWords words{};
    fields >> shape >> std::hex;
    for (std::uint64_t& word : words)
      fields >> word;
    std::string rest;
    if (fields && !(fields >> rest)) table.insert_or_assign(shape, words);
  }
  return table;
}

void print_algorithms(const AlgorithmTable& table, std::ostream& out) {
  for (const auto& [shape, words] : table) {
    out << shape << std::hex;
    for (const std::uint64_t word : words)
      out << ' ' << word;
    out << std::dec << '\n';
  }
}

AlgorithmTable read_algorithms(const std::filesystem::path& file) {
  std::ifstream in(file);
  return parse_algorithms(in);
}

bool add_algorithms(const std::filesystem::path& file, const AlgorithmTable& table) {
  AlgorithmTable all = table;
  all.merge(read_algorithms(file));
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  const std::filesystem::path temporary = file.string() + "." + std::to_string(getpid());
  {
    std::ofstream out(temporary);
    print_algorithms(all, out);
    out.flush();
    if (!out) {
      std::filesystem::remove(temporary, error);
      return false;
    }
  }
  std::filesystem::rename(temporary, file, error);
  return !error;
}

}  // namespace swinscope::cuda
