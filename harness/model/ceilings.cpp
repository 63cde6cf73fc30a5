// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See device_model.h: the ceilings that kernels and tiles share, and the model of one kernel.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/base/text.h"
#include "harness/base/units.h"
#include "harness/model/device_model.h"

namespace assay::model {
namespace {

Ceiling unknown(std::string name, std::string why) { return {std::move(name), std::nullopt, std::move(why)}; }

std::string no_multiprocessor(const DeviceModel& device) {
  return fmt::format("results/models/capabilities.csv has no multiprocessor of capability {}",
                     device.gpu.compute_capability);
}

std::string no_occupancy(const DeviceModel& device, const KernelFacts& facts) {
  return facts.known() ? no_multiprocessor(device)
                       : fmt::format("results/kernels.csv has no machine code of {} for capability {}", facts.file,
                                     device.gpu.compute_capability);
}

std::string no_cycles(const DeviceModel& device) {
  return fmt::format("results/classes.csv has no {} of {}",
                     device.gpu.multiprocessors ? "clock" : "number of multiprocessors", device.gpu.id);
}

// Items whose loads a multiprocessor has under way at once.
double items_in_flight(const KernelModel& m) {
  const double bytes =
      m.work.ring_bytes > 0 ? m.resident_blocks * m.work.ring_bytes : m.resident_threads() * m.facts.in_flight_bytes;
  return bytes / m.work.asked_bytes;
}

// Bytes under way against latency x bandwidth, and the rate that they allow.
void add_memory_latency(const DeviceModel& device, KernelModel& m) {
  const Work& w = m.work;
  if (w.read_bytes == 0) {
    m.in_flight_unknown =
        w.written_bytes > 0 ? "it only writes, and stores wait for nothing" : "it does not wait for DRAM";
    return;
  }
  const std::string fact = w.ring_bytes > 0 ? "latency_tma" : "latency_dram";
  const Fact* latency = device.fact(fact);
  const auto give_up = [&](const std::string& why) {
    m.in_flight_unknown = why;
    m.ceilings.push_back(unknown("latency", why));
  };
  if (!m.fits) return give_up(no_occupancy(device, m.facts));
  if (!device.gpu.multiprocessors) return give_up(no_cycles(device));
  if (latency == nullptr || !latency->seconds()) return give_up(missing_fact(device, fact));
  if (w.ring_bytes == 0 && m.facts.in_flight_bytes == 0)
    return give_up("results/kernels.csv sees no load under way in a loop of it");
  const double seconds = *latency->seconds(), sms = *device.gpu.multiprocessors;
  const double items = items_in_flight(m);
  m.ceilings.push_back({"latency", items * sms / seconds * w.amount,
                        fmt::format("{:.0f} {}s under way on each of {:.0f} multiprocessors, {} each", items, w.item,
                                    sms, format_quantity(seconds, "s"))});
  if (!device.gpu.memory_bytes_per_second) {
    m.in_flight_unknown = fmt::format("results/classes.csv has no bandwidth of {}", device.gpu.id);
    return;
  }
  const double read_share = w.read_bytes / (w.read_bytes + w.written_bytes);
  m.in_flight =
      InFlight{items * w.read_bytes, bytes_needed(seconds, *device.gpu.memory_bytes_per_second * read_share, sms)};
}

// Chains of dependent operations: a thread's, or a warp's on the tensor cores.
Ceiling chain_ceiling(const DeviceModel& device, const KernelModel& m) {
  const Work& w = m.work;
  const bool tensor = !w.tensor.empty();
  const Fact* latency = device.fact(w.chain_latency);
  if (!m.fits) return unknown("latency", no_occupancy(device, m.facts));
  if (latency == nullptr) return unknown("latency", missing_fact(device, w.chain_latency));
  const auto cycles = tensor ? device.tensor_cycles_per_second() : device.cycles_per_second();
  if (!cycles) return unknown("latency", no_cycles(device));
  const double chains = m.resident_threads() / (tensor ? warp_lanes : 1) * w.chains;
  return {"latency", chains * *cycles / latency->value * w.amount,
          fmt::format("{:.0f} chains on each multiprocessor, {:.3g} cycles a step", chains, latency->value)};
}

Ceiling step_ceiling(const DeviceModel& device, const Work& w) {
  const Fact* latency = device.fact(w.step_latency);
  if (latency == nullptr || !latency->seconds()) return unknown("latency", missing_fact(device, w.step_latency));
  return {"latency", w.amount / *latency->seconds(),
          fmt::format("{} for a step", format_quantity(*latency->seconds(), "s"))};
}

}  // namespace

std::string told(const Fact& fact) {
  const std::string figure = fact.unit == "cycle" && fact.clock_hz
                                 ? fmt::format("{:.4g} cycles at {:.0f} MHz", fact.value, *fact.clock_hz / 1e6)
                                 : fmt::format("{:.4g} {}", fact.value, fact.unit);
  return fmt::format("{}: {}; {}", fact.of, figure, fact.source);
}

std::string missing_fact(const DeviceModel& device, const std::string& what) {
  return fmt::format("results/models/facts.csv has no {} of {} or of another class of capability {}", what,
                     device.gpu.id, device.gpu.compute_capability);
}

std::optional<double> DeviceModel::cycles_per_second() const {
  if (!gpu.multiprocessors || !gpu.clock_hz) return std::nullopt;
  return *gpu.multiprocessors * *gpu.clock_hz;
}

std::optional<double> DeviceModel::tensor_cycles_per_second() const {
  if (!gpu.multiprocessors || !(gpu.tensor_clock_hz || gpu.clock_hz)) return std::nullopt;
  return *gpu.multiprocessors * gpu.tensor_clock_hz.value_or(gpu.clock_hz.value_or(0));
}

const Ceiling* binding(const std::vector<Ceiling>& ceilings) {
  const Ceiling* least = nullptr;
  for (const Ceiling& c : ceilings)
    if (c.rate && (least == nullptr || *c.rate < *least->rate)) least = &c;
  return least;
}

Ceiling dram_ceiling(const DeviceModel& device, double amount, double moved_bytes) {
  if (!device.gpu.memory_bytes_per_second)
    return unknown("DRAM", fmt::format("results/classes.csv has no bandwidth of {}", device.gpu.id));
  return {"DRAM", *device.gpu.memory_bytes_per_second / moved_bytes * amount,
          fmt::format("{}, {:.4g} bytes moved for {:.4g}", format_quantity(*device.gpu.memory_bytes_per_second, "B/s"),
                      moved_bytes, amount)};
}

Ceiling pipe_ceiling(const DeviceModel& device, const std::string& pipe, double amount, double lanes) {
  const std::string name = pipe + " pipe";
  if (device.multiprocessor == nullptr) return unknown(name, no_multiprocessor(device));
  const auto width = device.multiprocessor->lanes.find(pipe);
  if (width == device.multiprocessor->lanes.end())
    return unknown(name, fmt::format("results/models/capabilities.csv has no rate of {} for capability {}", pipe,
                                     device.gpu.compute_capability));
  const auto cycles = device.cycles_per_second();
  if (!cycles) return unknown(name, no_cycles(device));
  return {name, *cycles * width->second / lanes * amount,
          fmt::format("{:.0f} multiprocessors x {:.0f} lanes x {}", *device.gpu.multiprocessors, width->second,
                      format_quantity(*device.gpu.clock_hz, "Hz"))};
}

Ceiling tensor_ceiling(const DeviceModel& device, const std::string& type) {
  const auto rate = device.gpu.operations_per_second.find(type);
  if (rate == device.gpu.operations_per_second.end())
    return unknown("tensor cores", fmt::format("results/classes.csv has no {} rate of {}", type, device.gpu.id));
  return {"tensor cores", rate->second,
          fmt::format("the maker's dense {} figure{}", type,
                      device.gpu.tensor_clock_hz ? ", at " + format_quantity(*device.gpu.tensor_clock_hz, "Hz") : "")};
}

std::optional<Ceiling> instruction_ceiling(const DeviceModel& device, const std::string& instruction,
                                           const std::string& type) {
  // Up to 8.9 and on 12.x mma.sync is the instruction of the tensor cores; on 9.0 and 10.x it is that of older code.
  const std::string family = family_of(device.gpu.compute_capability);
  const int capability = capability_number(device.gpu.compute_capability);
  const bool warp_level = instruction == "mma.sync" || instruction == "wmma",
             group_level = starts_with(instruction, "wgmma n");
  const bool newer = family == "hopper" || (capability >= 100 && capability < 120);
  if (!group_level && instruction != "tcgen05" && !(warp_level && newer)) return std::nullopt;
  if (type != "bf16" && type != "f16")
    return unknown(instruction, fmt::format("nobody is known to have measured what {} of {} reaches on capability {}",
                                            instruction, type, device.gpu.compute_capability));
  const std::string what =
      warp_level ? "mma_sync_16bit_per_cycle" : "wgmma_" + instruction.substr(6) + "_16bit_per_cycle";
  const Fact* fact = device.fact(what);
  const auto cycles = device.tensor_cycles_per_second();
  if (fact == nullptr) return unknown(instruction, missing_fact(device, what));
  if (!cycles) return unknown(instruction, no_cycles(device));
  return Ceiling{instruction, *cycles * fact->value,
                 fmt::format("{:.4g} FLOP in a cycle of a multiprocessor, as others measured", fact->value)};
}

Ceiling shared_ceiling(const DeviceModel& device, double amount, double shared_bytes) {
  if (device.multiprocessor == nullptr) return unknown("shared memory", no_multiprocessor(device));
  if (!device.multiprocessor->shared_bytes_per_cycle)
    return unknown("shared memory",
                   fmt::format("results/models/capabilities.csv has no rate of shared memory for capability {}",
                               device.gpu.compute_capability));
  const auto cycles = device.cycles_per_second();
  if (!cycles) return unknown("shared memory", no_cycles(device));
  const double width = *device.multiprocessor->shared_bytes_per_cycle;
  return {
      "shared memory", *cycles * width / shared_bytes * amount,
      fmt::format("{:.0f} bytes in a cycle of a multiprocessor, {:.4g} moved for {:.4g}", width, shared_bytes, amount)};
}

KernelModel kernel_model(const DeviceModel& device, const KernelFacts& facts, const Work& work) {
  KernelModel m;
  m.work = work;
  m.facts = facts;
  if (facts.threads == 0) m.facts.threads = 1;  // chase.cu: a block of one thread
  if (device.multiprocessor != nullptr && facts.known()) {
    m.fits = occupancy(*device.multiprocessor,
                       {m.facts.threads, facts.registers, facts.shared_bytes + work.dynamic_shared_bytes});
    if (work.launched_blocks == 0)
      m.work.launched_blocks = std::floor(device.multiprocessor->threads / m.facts.threads);
    m.resident_blocks = std::min(m.fits->blocks, m.work.launched_blocks);
  }
  if (const Conflicts* counted = device.tables.kernels.conflicts(facts.file, facts.kernel, work.operation))
    m.conflicts = *counted;
  if (work.read_bytes + work.written_bytes > 0)
    m.ceilings.push_back(dram_ceiling(device, work.amount, work.read_bytes + work.written_bytes));
  if (!work.step_latency.empty()) {
    m.ceilings.push_back(step_ceiling(device, work));
    m.in_flight_unknown = "one load at a time: that is what it measures";
  } else {
    add_memory_latency(device, m);
  }
  if (!work.pipe.empty()) m.ceilings.push_back(pipe_ceiling(device, work.pipe, work.amount, work.lane_operations));
  if (!work.tensor.empty()) {
    m.ceilings.push_back(tensor_ceiling(device, work.tensor));
    if (auto instruction = instruction_ceiling(device, work.instruction, work.type)) m.ceilings.push_back(*instruction);
  }
  if (work.chains > 0) m.ceilings.push_back(chain_ceiling(device, m));
  if (work.shared_bytes > 0) m.ceilings.push_back(shared_ceiling(device, work.amount, work.shared_bytes));
  if (!work.unknown.empty()) m.ceilings.push_back(unknown("other", work.unknown));
  return m;
}

}  // namespace assay::model
