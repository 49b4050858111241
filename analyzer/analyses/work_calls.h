// The kernels, copies and sets of a scope one by one, each with what tells it apart in another run of the program
// (step_work.h adds them up).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/analyses/run_facts.h"

namespace swinscope {

// What tells kernels of two runs apart, or says that they are the same.
struct WorkKey {
  std::string path;   // of the innermost layer around the launch; empty: none is known
  std::string phase;  // forward, backward, …; empty outside of any
  std::string name;   // the full one
  std::string shape;  // grid and block of a kernel, bytes of a copy or set
  bool operator<(const WorkKey& other) const {
    return std::tie(path, phase, name, shape) < std::tie(other.path, other.phase, other.name, other.shape);
  }
};

struct WorkCall {
  std::size_t key = 0;  // in WorkCalls::keys()
  std::size_t rank_index = 0;
  EventIndex event = kNoEvent;
  std::int64_t step = 0;  // -1: of none
  std::int64_t exclusive_ns = 0;
  bool is_beside = false;  // the device communicates during some of it
};

// Those of the scope that do not communicate.
class WorkCalls {
 public:
  explicit WorkCalls(const RunFacts& run);

  const std::vector<WorkKey>& keys() const { return keys_; }
  const std::vector<WorkCall>& calls() const { return calls_; }  // by device, start

 private:
  using Ids = std::tuple<std::size_t, std::size_t, StringId, std::int64_t>;  // rank, layer, name, shape

  void add(const DeviceScope& device);
  std::size_t key_of(std::size_t rank_index, EventIndex event);
  std::size_t layer_of(std::size_t rank_index, OperationId operation);
  WorkKey make_key(std::size_t rank_index, OperationId operation, EventIndex event) const;

  const RunFacts& run_;
  std::vector<WorkKey> keys_;
  std::vector<WorkCall> calls_;
  std::map<WorkKey, std::size_t> by_key_;
  std::map<Ids, std::size_t> by_ids_;  // keys are made once for each of these
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> layers_;
};

}  // namespace swinscope
