#include "advisor/work.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/trace/kernel_names.h"

namespace swinscope {
namespace {

std::int64_t threads_of(const LaunchConfig& config) {
  const auto count = [](const Dim3& d) { return std::int64_t{d.x} * d.y * d.z; };
  return count(config.grid) * count(config.block);
}

// Where blocks share the sum of a value, a second kernel adds what they have: so libraries name it.
bool sums_parts(std::string_view kernel) {
  return kernel.find("splitKreduce") != std::string_view::npos ||
         kernel.find("execute_split_k_kernel") != std::string_view::npos;
}

// Inputs in 32 bits may be rounded to TF32 by the kernel, whose name then says so.
bool rounds_to_tf32(std::string_view kernel) {
  return kernel.find("tf32") != std::string_view::npos || kernel.find("s1688") != std::string_view::npos;
}

// "stage3.attn.proj" of "stage3.block5.attn.proj".
bool has_parts(std::string_view path, std::string_view name) {
  for (;;) {
    const std::size_t path_dot = path.find('.');
    const std::size_t name_dot = name.find('.');
    if (path.substr(0, path_dot) == name.substr(0, name_dot)) {
      if (name_dot == std::string_view::npos) return true;
      name.remove_prefix(name_dot + 1);
    }
    if (path_dot == std::string_view::npos) return false;
    path.remove_prefix(path_dot + 1);
  }
}

// Whether a call that waits stands between two of a rank's.
class HostWaits {
 public:
  explicit HostWaits(const RankGraph& rank) {
    sums_.reserve(rank.calls.size() + 1);
    sums_.push_back(0);
    for (const CallNode& call : rank.calls)
      sums_.push_back(sums_.back() + (call.waits.size() > 0 ? 1 : 0));
  }
  bool between(NodeIndex first, NodeIndex second) const {
    return first != kNoNode && second != kNoNode && first < second && sums_[second] > sums_[first];
  }

 private:
  std::vector<std::uint32_t> sums_;
};

}  // namespace

std::optional<ProductShape> product_of(const OperationPayload& what) {
  const auto dimensions = [](const OperationPayload::Shape& shape) {
    return static_cast<std::size_t>(std::ranges::find(shape, 0) - shape.begin());
  };
  const std::size_t inputs = dimensions(what.input_shape);
  const std::size_t outputs = dimensions(what.output_shape);
  if (what.flops <= 0 || inputs < 2 || outputs < 2) return std::nullopt;
  ProductShape shape;
  shape.k = what.input_shape[inputs - 1];
  shape.n = what.output_shape[outputs - 1];
  const std::int64_t rows = what.flops / (2 * shape.n * shape.k);
  if (rows <= 0) return std::nullopt;
  shape.m = outputs > 2 ? std::min(rows, what.output_shape[outputs - 2]) : rows;  // of each head of each window
  shape.batch = rows / shape.m;
  return shape;
}

Work::Work(const RunFacts& of, const DependencyGraph& in) : run(of), graph(in) {
  for (std::uint32_t r = 0; r < graph.ranks.size(); ++r) {
    const RankGraph& nodes = graph.ranks[r];
    const Rank& rank = run.trace.ranks[nodes.rank_index];
    const RankOperations& operations = run.operations()[nodes.rank_index];
    const HostWaits waits(nodes);
    if (steps_ == 0) steps_ = run.scope.step_count(nodes.rank_index);
    std::map<std::uint32_t, WorkStream> by_lane;
    for (NodeIndex index = 0; index < nodes.ops.size(); ++index) {
      const OpNode& op = nodes.ops[index];
      if (!run.scope.has_gpu_event(nodes.rank_index, op.event)) continue;
      WorkItem item;
      item.ref = {r, index};
      item.event = op.event;
      item.kind = rank.gpu.operation[op.event];
      item.duration_ns = op.duration_ns;
      const Named& name = named(rank, op.event);
      item.kernel = name.brief;
      item.full_name = run.trace.text(rank.gpu.name[op.event]);
      const OperationId id = operations.of_event(op.event);
      if (id != kNoOperation) {
        item.operation = &operations.all()[id];
        item.what = operations.what_of_event(op.event);
        item.precision = item.what->precision;
        if (name.rounds_to_tf32 && item.precision == "fp32") item.precision = "tf32";
      }
      if (rank.gpu.kind[op.event] == GpuKind::kKernel)
        item.threads = threads_of(rank.configs[rank.gpu.config[op.event]]);
      WorkStream& stream = by_lane[op.lane];
      stream.rank = r;
      const bool follows = !stream.items.empty() && op.before == stream.items.back().ref.op;
      item.is_split = !follows || op.waits.size() > 0 || waits.between(nodes.ops[op.before].call, op.call);
      item.is_part = !item.is_split && name.sums_parts;
      stream.items.push_back(item);
    }
    for (auto& [lane, stream] : by_lane)
      streams_.push_back(std::move(stream));
  }
  find_copy_rate();
}

const Work::Named& Work::named(const Rank& rank, EventIndex event) {
  const auto [entry, is_new] = by_name_.try_emplace(rank.gpu.name[event]);
  if (is_new) {
    const std::string_view name = run.trace.text(rank.gpu.name[event]);
    const bool is_kernel = rank.gpu.kind[event] == GpuKind::kKernel;
    entry->second = {is_kernel ? brief_kernel_name(name) : std::string(name), rounds_to_tf32(name), sums_parts(name)};
  }
  return entry->second;
}

std::vector<std::string> Work::keep_precision(const std::vector<std::string>& names) {
  std::vector<std::string> unknown;
  for (const std::string& name : names) {
    bool is_known = false;
    for (WorkStream& stream : streams_) {
      for (WorkItem& item : stream.items) {
        if (item.operation == nullptr || !has_parts(item.operation->path, name)) continue;
        item.keeps_precision = true;
        is_known = true;
      }
    }
    if (!is_known) unknown.push_back(name);
  }
  return unknown;
}

void Work::set_copy_rate(double bytes_per_second, std::string source) {
  copy_rate_ = bytes_per_second;
  copy_rate_source_ = std::move(source);
}

void Work::set_rates(const Rates& rates) {
  rates_ = &rates;
  constexpr double kLarge = 1e9;
  if (const std::optional<double> ns = rates.bytes_ns(kLarge)) set_copy_rate(1e9 * kLarge / *ns, rates.source());
}

double Work::bytes_ns(double bytes) const {
  const std::optional<double> measured = rates_ == nullptr ? std::nullopt : rates_->bytes_ns(bytes);
  return measured.value_or(1e9 * bytes / copy_rate_);
}

void Work::find_copy_rate() {
  constexpr double kReachable = 0.9;
  constexpr std::int64_t kLarge = std::int64_t{16} << 20;  // a copy that no cache holds
  double best = 0;
  for (const RankGraph& nodes : graph.ranks) {
    const Rank& rank = run.trace.ranks[nodes.rank_index];
    for (const GpuInfo& gpu : rank.run.gpus) {
      if (copy_rate_ == 0 && gpu.memory_bytes_per_second > 0)
        set_copy_rate(kReachable * static_cast<double>(gpu.memory_bytes_per_second), "90 % of the GPU's peak");
    }
    for (EventIndex e = 0; e < rank.gpu.size(); ++e) {
      const CopyEnds* ends = rank.ends_of(e);
      if (ends == nullptr || ends->is_with_host() || ends->is_between_gpus() || rank.gpu.bytes[e] < kLarge) continue;
      const std::int64_t ns = rank.gpu.end_ns[e] - rank.gpu.start_ns[e];
      if (ns > 0) best = std::max(best, 2e9 * static_cast<double>(rank.gpu.bytes[e]) / static_cast<double>(ns));
    }
  }
  if (copy_rate_ == 0 && best > 0) set_copy_rate(best, "the best copy of the trace");
}

}  // namespace swinscope
