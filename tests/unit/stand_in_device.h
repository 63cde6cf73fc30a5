// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A device of a test's own: host memory, a time and clock stamps as the test says, and lost when the test says so.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "harness/device/accelerator.h"

namespace assay::testing {

class StandInDevice : public Accelerator {
 public:
  StandInDevice() {
    info_.id = "cuda:0";
    info_.facts = {{"capability", 90}, {"memory_bytes", 1 << 20}, {"cache.l2_bytes", 1 << 10}};
  }
  const DeviceInfo& info() const override { return info_; }
  void* stream() const override { return nullptr; }
  std::string loss() const override { return loss_; }
  std::uint64_t free_bytes() const override { return 1 << 20; }
  void* allocate(std::size_t bytes) override {
    blocks_.push_back(std::vector<unsigned char>(bytes, 0xA5));
    return blocks_.back().data();
  }
  void free_all() override {
    blocks_.clear();
    if (!lost_in_the_end.empty()) loss_ = lost_in_the_end;
  }
  bool owns(const void* memory) const override {
    const auto* p = static_cast<const unsigned char*>(memory);
    return std::any_of(blocks_.begin(), blocks_.end(),
                       [p](const auto& block) { return p >= block.data() && p < block.data() + block.size(); });
  }
  std::uint64_t peak_bytes() const override { return 0; }
  void read(void* host, const void* from, std::size_t bytes) override { std::memcpy(host, from, bytes); }
  void write(void* to, const void* host, std::size_t bytes) override { std::memcpy(to, host, bytes); }
  void fill(void* to, unsigned char value, std::size_t bytes) override { std::memset(to, value, bytes); }
  double timed(const std::function<void()>& enqueue) override {
    enqueue();
    return seconds;
  }
  double resolution_s() const override { return 0.5e-6; }
  std::vector<ClockStamp> stamps() override { return next_stamps; }

  void set_simulated() { info_.simulated = true; }

  double seconds = 0;
  std::vector<ClockStamp> next_stamps;
  std::string lost_in_the_end;  // why, when its memory is given back

 private:
  DeviceInfo info_;
  std::vector<std::vector<unsigned char>> blocks_;
  std::string loss_;
};

}  // namespace assay::testing
