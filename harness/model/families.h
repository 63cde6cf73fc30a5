// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What the kernels of each family ask of a device, read off their names and the formulas of kernels/<family>.h: bytes,
// operations, chains, for one item of their inner loop. One row of families() is one benchmark; a new family is a row
// and a function. Which of the limits binds is no business of this file (model.h). Trap: `asked_bytes` counts as
// scripts/inspect counts bytes in flight (what a thread's loads name), `read_bytes` what DRAM moves for it: a gather
// asks for 8 bytes and moves a sector of 32.
#pragma once

#include <string>
#include <vector>

#include "harness/model/kernel_facts.h"

namespace assay::model {

struct Work {
  std::string version, operation, type;      // deep, triad, f64
  std::string item, unit;                    // "element"; of the rate: B/s, FLOP/s, reads/s, ...
  double amount = 0;                         // of `unit` for an item: bytes of the program, FLOP, 1
  double read_bytes = 0, written_bytes = 0;  // that DRAM moves for an item
  double asked_bytes = 0;                    // that a thread's loads name for an item
  double shared_bytes = 0;                   // that the banks move for an item, once more for each turn of a conflict
  std::string pipe;                          // of Multiprocessor::lanes
  double lane_operations = 0;                // in this pipe for an item
  std::string tensor;                        // of GpuClass::operations_per_second
  double chains = 0;                         // independent ones of a thread, or of a warp (tensor)
  std::string chain_latency;                 // the fact: cycles from one link to the next
  std::string step_latency;                  // the fact, where an item is one load that the next one waits for
  double launched_blocks = 8;                // for each multiprocessor; 0: as many as their threads allow
  double dynamic_shared_bytes = 0;           // of a block
  double ring_bytes = 0;    // that a block has under way by its copy engine, instead of what its threads have
  std::string instruction;  // of the tensor cores: mma.sync, wgmma n64, ...
  int from_capability = 0, below_capability = 1000;  // 80: 8.0; which devices have the instructions
  std::string unknown;                               // a limit that binds, perhaps, and that nobody gave a figure for
};

struct Family {
  std::string benchmark;
  std::vector<std::string> files;
  std::vector<Work> (*work)(const std::string& file, const KernelName& name);  // empty: not the measured loop
};

const std::vector<Family>& families();
const Family* family_of_benchmark(const std::string& benchmark);

}  // namespace assay::model
