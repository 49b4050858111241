// The part of NVML that the sampler uses, opened at run time. Source: NVML's API reference (driver 525 and newer; GPM
// on Hopper and newer).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/records.h"

namespace swinscope {

struct GpuReading {
  int metric = 0;  // GpuMetric::id
  std::int64_t value = 0;
};

struct GpuMetric {
  int id;
  int source;  // TARGET_INFO_GPU_METRICS.sourceId: 1 NVML, 3 GPM
  const char* name;
};
// All that read() may return.
const std::vector<GpuMetric>& gpu_metrics();

struct GpuIdentity {
  std::string name;
  std::string uuid;
  std::int64_t memory_bytes = 0;
  int nvlinks = 0;   // that are up
  std::string pcie;  // "gen5 x16", the most that it can
};

// How two GPUs reach each other, in the words of `nvidia-smi topo -m`: "NV18" (so many NVLinks, directly or through
// switches), else where their ways on PCIe meet: PIX, PXB (behind one or several switches), PHB (host bridge), NODE,
// SYS.
struct GpuLink {
  std::size_t first = 0;
  std::size_t second = 0;
  std::string kind;
};

// GPUs of the machine by their index. Virtual, so that tests bring GPUs of their own.
class Nvml {
 public:
  Nvml() = default;
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  Nvml(Nvml&&) = delete;
  Nvml& operator=(Nvml&&) = delete;
  virtual ~Nvml() = default;

  virtual std::vector<GpuIdentity> gpus() = 0;
  // Of each pair of which it is told, first < second.
  virtual std::vector<GpuLink> links() { return {}; }
  // What this GPU tells now; GPM's part is about the time since the last call that had
  // one. What it does not tell is left out.
  virtual std::vector<GpuReading> read(std::size_t gpu) = 0;
};

// As facts of a run: gpu.<n>.nvlinks, gpu.<n>.pcie, gpu.<a>-<b>.link. What is not told is left out.
std::vector<NamedValue> describe_connections(Nvml& nvml);

// Null with the reason in `problem` where there is no driver, no GPU or no right to ask.
std::unique_ptr<Nvml> open_nvml(std::string& problem, const char* library = "libnvidia-ml.so.1");

}  // namespace swinscope
