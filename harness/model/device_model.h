// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Inside of the models: a class of GPUs with all that is known of it, and the ceilings that kernels and tiles share.
#pragma once

#include <string>

#include "harness/model/model.h"

namespace assay::model {

struct DeviceModel {
  const GpuClass& gpu;
  const Tables& tables;
  const Multiprocessor* multiprocessor;  // nullptr: capabilities.csv doesn't have it

  DeviceModel(const GpuClass& of, const Tables& from)
      : gpu(of), tables(from), multiprocessor(from.hardware.multiprocessor(of.compute_capability)) {}

  const Fact* fact(const std::string& what) const { return tables.hardware.fact(what, gpu, tables.classes); }
  // Cycles of all multiprocessors together in a second; nullopt: one of the two isn't known.
  std::optional<double> cycles_per_second() const;
  // The same at the clock that the tensor figures stand for.
  std::optional<double> tensor_cycles_per_second() const;
};

// "h100_pcie_80gb: 649.9 cycles at 1.76 GHz", with the source.
std::string told(const Fact& fact);
// "results/models/facts.csv has no latency_dram for capability 12.0"
std::string missing_fact(const DeviceModel& device, const std::string& what);

Ceiling dram_ceiling(const DeviceModel& device, double amount, double moved_bytes);
// `lanes`: operations of the pipe for an amount.
Ceiling pipe_ceiling(const DeviceModel& device, const std::string& pipe, double amount, double lanes);
Ceiling tensor_ceiling(const DeviceModel& device, const std::string& type);
// What mma.sync and wgmma reach of it where they are known to reach less; nullopt where nothing says that they do.
std::optional<Ceiling> instruction_ceiling(const DeviceModel& device, const std::string& instruction,
                                           const std::string& type);
Ceiling shared_ceiling(const DeviceModel& device, double amount, double shared_bytes);

KernelModel kernel_model(const DeviceModel& device, const KernelFacts& facts, const Work& work);
TileModel tile_model(const DeviceModel& device, const Tile& tile, double n);
std::vector<Goal> goals_of(const DeviceModel& device, const Page& page);

}  // namespace assay::model
