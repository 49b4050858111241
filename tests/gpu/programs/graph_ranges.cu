// graph_ranges STEPS: captures a graph of two layers under NVTX ranges, then replays it once in each range "step". The
// second layer has a copy and a set, too.
#include <cstdlib>
#include <string>

#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

__global__ void first(float* x) { x[threadIdx.x] += 1; }
__global__ void second(float* x) { x[threadIdx.x] *= 2; }

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 3;
  float* x = nullptr;
  float* y = nullptr;
  cudaMalloc(&x, 4096);
  cudaMalloc(&y, 4096);
  cudaStream_t stream{};
  cudaStreamCreate(&stream);
  cudaGraph_t graph{};
  cudaGraphExec_t exec{};
  nvtxRangePushA("capture");
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  nvtxRangePushA("model.layer1");
  first<<<1, 32, 0, stream>>>(x);
  first<<<2, 32, 0, stream>>>(y);
  nvtxRangePop();
  nvtxRangePushA("model.layer2");
  second<<<1, 32, 0, stream>>>(x);
  cudaMemcpyAsync(y, x, 128, cudaMemcpyDeviceToDevice, stream);
  cudaMemsetAsync(x, 0, 64, stream);
  nvtxRangePop();
  cudaStreamEndCapture(stream, &graph);
  nvtxRangePop();
  if (cudaGraphInstantiate(&exec, graph, 0) != cudaSuccess) return 1;
  for (int i = 0; i < steps; ++i) {
    nvtxRangePushA(("step " + std::to_string(i)).c_str());
    cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
    nvtxRangePop();
  }
  const cudaError_t error = cudaDeviceSynchronize();
  return error == cudaSuccess ? 0 : 1;
}
