// The file of chosen algorithms: one line a shape, "<shape> <algorithm in hexadecimal>".
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <string>

namespace swinscope::cuda {

// The words of a cublasLtMatmulAlgo_t, which may be stored and used again by the same version of the library.
using AlgorithmWords = std::array<std::uint64_t, 8>;
using AlgorithmTable = std::map<std::string, AlgorithmWords>;

// Lines that are not understood are left out; a file that is not there is an empty table.
AlgorithmTable read_algorithms(const std::filesystem::path& file);

// The same lines as text.
AlgorithmTable parse_algorithms(std::istream& in);
void print_algorithms(const AlgorithmTable& table, std::ostream& out);

// Adds the table to the file, which may have lines of other processes by now, and replaces it as a whole, so that a
// reader never sees half of it. Returns whether that worked.
bool add_algorithms(const std::filesystem::path& file, const AlgorithmTable& table);

}  // namespace swinscope::cuda
