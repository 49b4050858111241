// What a GPU reaches on the tasks that Swin Transformers consist of.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/matmul.h"

namespace swinscope {

double median(std::vector<double> values);  // of at least one
// Microseconds on the device of what `work` enqueues; the median over rounds, after one that does not count.
double device_time(cuda::Stream stream, const std::function<void()>& work);
// Microseconds of each of many launches in one graph; `launch` gets their number.
double time_in_graph(cuda::Stream stream, const std::function<void(int)>& launch);
// Nanoseconds on the device from the end of one launch of a graph to the end of the next one, which the host enqueues
// meanwhile; the median of five, after one that does not count.
double graph_period_ns(cuda::Stream stream, const cuda::Graph& graph);

struct CopyRate {
  std::string kind;        // "device" (read and written bytes count both), "host to device", "device to host" (pinned)
  std::int64_t bytes = 0;  // of one copy
  double gigabytes_per_second = 0.0;
};
std::vector<CopyRate> measure_copies();

struct ProductPrecision {
  std::string name;  // fp32, tf32, fp16, bf16, fp8, int8
  ElementType type = ElementType::kFp32;
  cuda::MatmulArithmetic arithmetic = cuda::MatmulArithmetic::kByType;
};
// fp8 where the GPU has it.
std::vector<ProductPrecision> product_precisions(bool with_fp8);
// x W^T: m x k times the transpose of n x k.
cuda::MatmulShape product_shape(const ProductPrecision& precision, std::int64_t m, std::int64_t n, std::int64_t k);

struct ProductTask {
  std::string name;       // "stage3.mlp.fc1 batch 32", "square 8192"
  std::string precision;  // fp32, tf32, fp16, bf16, fp8, int8
  cuda::MatmulShape shape;
};
// Swin-B's products at two batch sizes, and squares; fp8 where the GPU has it.
std::vector<ProductTask> product_tasks(bool with_fp8);

struct ProductRate {
  double microseconds = 0.0;
  double teraflops = 0.0;
  double gigabytes_per_second = 0.0;  // compulsory traffic over the time
};
// With the fastest of cuBLASLt's algorithms.
ProductRate measure_product(cuda::MatmulLibrary& library, const ProductTask& task);

// A kernel that memory limits, as it stands in a model: one launch after another, each on data that no cache holds.
struct KernelRate {
  std::string name;  // "swin_base stage3.attn.window batch 128"
  double microseconds = 0.0;
  double gigabytes_per_second = 0.0;  // compulsory traffic over the time
};
// Normalization and window attention of Swin-B, V1 and V2, in fp16.
std::vector<KernelRate> measure_kernels(std::int64_t batch);

struct LaunchCost {
  double enqueue_us = 0.0;           // host time of a launch whose end nobody waits for
  double round_trip_us = 0.0;        // of launching one empty kernel and waiting for it
  double graph_round_trip_us = 0.0;  // of launching a graph of one empty kernel and waiting for it
  double graph_node_us = 0.0;        // time on the GPU that each further empty kernel of a graph takes
};
LaunchCost measure_launches();

// What the kernels of a stream cost beside their work, in nanoseconds. An empty kernel lasts as long as it moves the
// second of two events that are recorded around it: (event, kernel, event) - (event, event), both behind a kernel that
// holds the stream until the host has enqueued everything.
struct LaunchGaps {
  double empty_kernel_ns = 0.0;       // from its start to its end
  double kernel_gap_ns = 0.0;         // (a long queue of empty kernels) / their number - empty_kernel_ns
  double graph_gap_ns = 0.0;          // the same between the nodes of a graph
  double launch_ns = 0.0;             // the host's time for a launch
  double graph_launch_base_ns = 0.0;  // for launching a graph, and what each of its kernels adds
  double graph_launch_node_ns = 0.0;
};
LaunchGaps measure_gaps();

// One product again and again: does power or heat slow it down?
struct SustainedRate {
  double seconds = 0.0;
  double first_teraflops = 0.0;   // in the first half second
  double last_teraflops = 0.0;    // in the last two seconds
  double lowest_teraflops = 0.0;  // of any quarter of a second
};
SustainedRate measure_sustained(cuda::MatmulLibrary& library, const ProductTask& task, double seconds);

}  // namespace swinscope
