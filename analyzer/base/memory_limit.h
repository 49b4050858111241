// How much memory reading a trace may take. The kernel gives memory that is not there and kills the process, or another
// one, when it is used: reading ends before, and says so.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "store/error.h"

namespace swinscope {

// Bytes that this process may take beside those it has: the least of what the machine has available, what the cgroups
// of the process allow, and its limit of address space. 2^63 when nothing tells. `root` holds proc and sys.
std::uint64_t available_memory(const std::filesystem::path& root = "/");

// Bytes of memory that this process has in use (resident); 0 when /proc does not tell.
std::uint64_t memory_in_use();

// Whatever else can be read, it is no answer.
class MemoryError : public Error {
 public:
  using Error::Error;
};

class MemoryLimit {
 public:
  // Three quarters of what is available now may be taken in addition: analyses take of the rest.
  MemoryLimit();
  // This process may use so many bytes in all.
  explicit MemoryLimit(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  // Throws MemoryError (kFailure) when the process uses more. Takes some 10 us; of any thread.
  void check(const std::string& path) const;

 private:
  std::uint64_t most_bytes_;
};

}  // namespace swinscope
