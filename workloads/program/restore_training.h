// Where a training on CPUs goes on from a checkpoint.
#pragma once

#include <cstdint>
#include <span>

#include "workloads/communicator.h"
#include "workloads/parameters.h"
#include "workloads/program/training_engine.h"

namespace swinscope {

// The trainer has sent the leading rank's parameters to all; here follows what the checkpoint has, which lies on that
// rank only. `trainer`: of the store's parameters.
template <typename T, typename Trainer>
void restore_training(const TrainingStart& start, ParameterStore<T>& store, Trainer& trainer,
                      Communicator& communicator) {
  const auto moments = trainer.optimizer().moments();
  std::int64_t optimizer_steps = 0;
  if (start.checkpoint != nullptr) {
    start.checkpoint->read(store, moments);
    optimizer_steps = start.checkpoint->state().optimizer_steps;
  }
  communicator.broadcast(std::as_writable_bytes(store.values()), 0);
  // Running statistics, which only segmentation has.
  if (!store.buffers().empty()) communicator.broadcast(std::as_writable_bytes(store.buffers()), 0);
  communicator.broadcast(std::as_writable_bytes(moments.first), 0);
  communicator.broadcast(std::as_writable_bytes(moments.second), 0);
  communicator.broadcast(std::as_writable_bytes(std::span(&optimizer_steps, 1)), 0);
  trainer.optimizer().set_steps(optimizer_steps);
  trainer.set_steps_done(start.resumed_at);
}

}  // namespace swinscope
