#include "analyzer/analyses/run_facts.h"

namespace swinscope {

RunFacts::RunFacts(const Trace& of, const Selection& selection)
    : trace(of), scope(of, selection), selects_all_(selection == Selection()) {}

const std::vector<RankOperations>& RunFacts::operations() const {
  return operations_.get([&] { return find_operations(trace); });
}

const std::vector<Dependencies>& RunFacts::dependencies() const {
  return dependencies_.get([&] {
    std::vector<Dependencies> all;
    for (const Rank& rank : trace.ranks)
      all.emplace_back(trace, rank);
    return all;
  });
}

const std::vector<Collective>& RunFacts::collectives() const {
  return collectives_.get([&] { return match_collectives(trace, scope); });
}

const ClockAlignment& RunFacts::clocks() const {
  return clocks_.get([&] { return selects_all_ ? ClockAlignment(trace, collectives()) : ClockAlignment(trace); });
}

const CollectiveWaits& RunFacts::waits() const {
  return waits_.get([&] { return CollectiveWaits(trace, collectives(), clocks()); });
}

const LateRanks& RunFacts::late_ranks() const {
  return late_ranks_.get([&] { return find_late_ranks(trace, scope, collectives(), waits(), clocks()); });
}

const std::vector<DeviceBreakdown>& RunFacts::devices() const {
  return devices_.get([&] { return time_breakdown(trace, scope, waits()); });
}

const std::vector<IdleGap>& RunFacts::idle_gaps() const {
  return idle_gaps_.get([&] { return swinscope::idle_gaps(trace, scope); });
}

const HostActivity& RunFacts::host_waits() const {
  return host_waits_.get([&] { return swinscope::host_waits(trace, idle_gaps()); });
}

const std::vector<HostPhases>& RunFacts::host() const {
  return host_.get([&] { return host_phases(trace, scope); });
}

const std::vector<KernelRow>& RunFacts::kernels() const {
  return kernels_.get([&] { return kernel_table(trace, scope, devices(), {.operations = &operations()}); });
}

const std::vector<LayerRow>& RunFacts::layers() const {
  return layers_.get([&] { return layer_table(*this); });
}

const Verdict& RunFacts::verdict() const {
  const auto host_activity = [&]() -> const HostActivity& { return host_waits(); };
  return verdict_.get([&] { return judge(trace, scope, devices(), kernels(), host(), waits(), host_activity); });
}

}  // namespace swinscope
