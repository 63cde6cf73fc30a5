// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What a GPU of a class can do at most, from facts of its class alone: nothing here was measured. A figure above it is
// wrong, not great; a gate far below it passes anything.
// Traps: a link's figure is for one way; an all-reduce over switches that add (NVLink from generation 4) can show a bus
// bandwidth above the wire rate; between nodes every byte crosses PCIe; tensor peaks are quoted at a lower clock than
// the card can reach, and GeForce cards run above their printed boost.
#pragma once

#include <optional>
#include <string>

#include "harness/verdict/classes.h"

namespace assay {

enum class Kind {
  memory,          // bytes to and from the GPU's own memory
  host_copy,       // between host and GPU, one way
  host_copy_both,  // both ways at once
  peer_copy,       // between two GPUs, one way
  peer_copy_both,
  all_reduce,  // bus bandwidth of a ring
  matmul,      // dense matrix product of Setting::type
  vector,      // multiply-add without tensor cores
  power,       // what the card may draw
  link_rate,   // raw rate of one NVLink, one way, as NVML tells it
};

struct Setting {
  int gpus = 1;      // in one node
  int nodes = 1;     // 0: several, and nobody says how many
  std::string type;  // as in GpuClass::operations_per_second; "": not said, so the widest that can be meant
};

// What is that small a share of what is possible is a slipped unit, whatever is measured.
inline constexpr double slipped_share = 1e-4;

struct PhysicalLimit {
  double value = 0;
  std::string unit;
  std::string why;            // "the memory of h100_sxm5_80gb moves at most 3352 GB/s"
  double plausible_from = 0;  // a gate below this value tells nothing; 0: not known
};

// nullopt: the class doesn't tell.
std::optional<PhysicalLimit> physical_limit(const GpuClass& gpu, Kind kind, const Setting& setting = {});
// What one of our own metrics is limited by; nullopt where the class sets no limit for it. `unit` is a base unit.
// plausible_from is a ten-thousandth (a slipped unit) for cases that aren't written to reach the limit.
std::optional<PhysicalLimit> limit_of_metric(const GpuClass& gpu, const std::string& case_name,
                                             const std::string& metric, const std::string& unit);

}  // namespace assay
