// numbered_kernels RATE SECONDS FILE [COUNT]: launches kernels that say their number (as dynamic shared memory, number
// modulo 40000 bytes) at a rate per second, on one stream. FILE is mapped and holds the number launched so far at any
// moment, also after a kill. COUNT ends it after that many kernels.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

__global__ void numbered(int* out) {
  if (out != nullptr) *out = 1;
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const double rate = std::atof(argv[1]);
  const double seconds = std::atof(argv[2]);
  const long count = argc > 4 ? std::atol(argv[4]) : -1;
  const int file = open(argv[3], O_RDWR | O_CREAT | O_TRUNC, 0644);
  if (file < 0 || ftruncate(file, 4096) != 0) return 3;
  auto* launched =
      static_cast<std::atomic<std::int64_t>*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  cudaFree(nullptr);
  constexpr long kModulus = 40'000;
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const std::chrono::duration<double> period(1 / rate);
  for (long i = 0; i != count; ++i) {
    const auto due = begin + std::chrono::duration_cast<Clock::duration>(period * i);
    if (count < 0 && due - begin > std::chrono::duration<double>(seconds)) break;
    while (Clock::now() < due) {
    }
    numbered<<<1, 1, static_cast<std::size_t>(i % kModulus)>>>(nullptr);
    launched->store(i + 1, std::memory_order_relaxed);
  }
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%lld kernels, %s\n", static_cast<long long>(launched->load()), cudaGetErrorString(error));
  return error == cudaSuccess ? 7 : 1;
}
