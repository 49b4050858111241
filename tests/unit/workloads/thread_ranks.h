// Ranks that are threads of the test.
#pragma once

#include <algorithm>
#include <barrier>
#include <cstdint>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "workloads/communicator.h"

namespace swinscope::test {

class ThreadRanks {
 public:
  explicit ThreadRanks(int size) : size_(size), given_(static_cast<std::size_t>(size)), together_(size) {}

  // Calls body(communicator) on a thread for each rank. The body must not throw.
  void run(const std::function<void(Communicator&)>& body) {
    std::vector<std::jthread> threads;
    threads.reserve(static_cast<std::size_t>(size_));
    for (int rank = 0; rank < size_; ++rank) {
      threads.emplace_back([this, rank, &body] {
        Member member(*this, rank);
        body(member);
      });
    }
  }

 private:
  class Member : public Communicator {
   public:
    Member(ThreadRanks& ranks, int rank) : ranks_(ranks), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return ranks_.size_; }
    void all_reduce_sum(std::span<float> values) override { sum(values); }
    void all_reduce_sum(std::span<double> values) override { sum(values); }
    void broadcast(std::span<std::byte> bytes, int root) override {
      ranks_.given_[static_cast<std::size_t>(rank_)] = bytes.data();
      barrier();
      if (rank_ != root) std::memcpy(bytes.data(), ranks_.given_[static_cast<std::size_t>(root)], bytes.size());
      barrier();
    }
    void barrier() override { ranks_.together_.arrive_and_wait(); }

   private:
    template <typename T>
    void sum(std::span<T> values) {
      ranks_.given_[static_cast<std::size_t>(rank_)] = values.data();
      barrier();
      std::vector<T> total(values.size());
      for (const void* const given : ranks_.given_) {
        for (std::size_t i = 0; i < total.size(); ++i)
          total[i] += static_cast<const T*>(given)[i];
      }
      barrier();
      std::ranges::copy(total, values.begin());
    }

    ThreadRanks& ranks_;
    int rank_;
  };

  int size_;
  std::vector<void*> given_;
  std::barrier<> together_;
};

}  // namespace swinscope::test
