// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See device_model.h: the model of a matrix product of n x n x n by one kind of tile. For a block, a step is tile_k of
// k:
//   FLOP of a step     2 m n k of the tile; its time on the tensor cores, of which `blocks` resident blocks have a
//   share ring of s stages   a stage is taken from the moment its load is asked for until it was multiplied, so a block
//   makes
//                      at most s steps in latency + step
//   L2                 (m + n) k bytes for each step: tiles of a wave share what they read only in L2
//   shared memory      a warp (wgmma: a group) reads (warp_m + warp_n) numbers for warp_m x warp_n multiply-adds
//   DRAM               each matrix once: A, B in, C (f32) out
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/base/units.h"
#include "harness/model/device_model.h"

namespace assay::model {
namespace {

constexpr double largest_box_bytes = 32768, kib = 1024, result_bytes = 4;

// From the moment that a stage is asked for until it is there.
std::optional<double> latency_of_stage(const DeviceModel& device, const Tile& tile, std::string* why) {
  if (tile.feed != "tma") {
    const Fact* dram = device.fact("latency_dram");
    if (dram != nullptr && dram->seconds()) return dram->seconds();
    *why = missing_fact(device, "latency_dram");
    return std::nullopt;
  }
  const Fact *base = device.fact("latency_tma"), *per_kib = device.fact("latency_tma_per_kib");
  if (base == nullptr || per_kib == nullptr) {
    *why = missing_fact(device, "latency_tma");
    return std::nullopt;
  }
  const double box = std::min(largest_box_bytes, std::max(tile.m, tile.n) * tile.k * tile.element_bytes());
  return *base->seconds() + *per_kib->seconds() * box / kib;
}

// The rate of the multiplying instructions, before memory.
void add_arithmetic(const DeviceModel& device, TileModel& m) {
  if (m.tile.instruction == "fma") {
    m.ceilings.push_back(pipe_ceiling(device, "f32", 2, 1));
    return;
  }
  m.ceilings.push_back(tensor_ceiling(device, m.tile.type));
  const std::string name =
      m.tile.instruction == "wgmma" ? fmt::format("wgmma n{:.0f}", m.tile.warp_n) : m.tile.instruction;
  if (auto instruction = instruction_ceiling(device, name, m.tile.type)) m.ceilings.push_back(*instruction);
}

// Registers of a thread for the sums of its share of the tile. With tma one group of four warps only loads.
double accumulators(const Tile& t) {
  constexpr double group = 128;
  const double adding = t.feed == "tma" && t.threads > group ? t.threads - group : t.threads;
  return std::ceil(t.m * t.n / adding);
}

// Bytes that L2 delivers to a multiprocessor in a second, as the best of others saw it. TMA gets more than loads do.
std::optional<double> l2_bytes_per_second(const DeviceModel& device, const Tile& tile) {
  const Fact* tma = tile.feed == "tma" ? device.fact("l2_tma_read") : nullptr;
  if (tma != nullptr) return tma->value * 1e9;
  const Fact* loads = device.fact("l2_read_per_cycle");
  if (loads == nullptr || !device.gpu.clock_hz) return std::nullopt;
  return loads->value * *device.gpu.clock_hz;
}

// `arithmetic`: FLOP/s of the multiplying instructions; nullopt: not known.
void add_ring(const DeviceModel& device, const std::optional<double>& arithmetic, TileModel& m) {
  const Tile& t = m.tile;
  if (t.feed == "none") return;
  std::string why;
  if (!arithmetic || !device.gpu.multiprocessors || m.fits.blocks == 0) {
    m.ceilings.push_back({"ring", std::nullopt, "the rate of the multiplications isn't known, or no block fits"});
    return;
  }
  const double sms = *device.gpu.multiprocessors, flop = 2 * t.m * t.n * t.k, blocks = m.fits.blocks;
  m.step_s = flop / (*arithmetic / sms) * blocks;  // resident blocks share the multiprocessor
  m.latency_s = latency_of_stage(device, t, &why);
  if (!m.latency_s) {
    m.ceilings.push_back({"ring", std::nullopt, why});
    return;
  }
  m.stages_needed = stages_needed(*m.latency_s, *m.step_s);
  const double steps = t.stages / (*m.latency_s + *m.step_s) * blocks;  // of a multiprocessor in a second
  m.ceilings.push_back({"ring", steps * flop * sms,
                        fmt::format("{:.0f} stages in {} to load and {} to multiply", t.stages,
                                    format_quantity(*m.latency_s, "s"), format_quantity(*m.step_s, "s"))});
  m.in_flight = InFlight{std::max(1.0, t.stages - 1) * m.stage_bytes * blocks,
                         m.stage_bytes / (*m.step_s / blocks) * *m.latency_s};
}

void add_memory(const DeviceModel& device, TileModel& m) {
  const Tile& t = m.tile;
  const double flop = 2 * m.n * m.n * m.n;
  if (t.shared_of_a_flop > 0)
    m.ceilings.push_back(shared_ceiling(device, 1, t.shared_of_a_flop));
  else if (t.warp_m > 0 && t.warp_n > 0)
    m.ceilings.push_back(shared_ceiling(device, 2 * t.warp_m * t.warp_n, (t.warp_m + t.warp_n) * t.element_bytes()));
  if (t.feed == "none")  // what neighbours read comes from L1 as often as not
    m.ceilings.push_back({"other", std::nullopt, t.note});
  const auto l2 = l2_bytes_per_second(device, t);
  if (t.feed != "none" && l2)
    m.ceilings.push_back({"L2", *l2 * *device.gpu.multiprocessors / m.stage_bytes * 2 * t.m * t.n * t.k,
                          fmt::format("{} to a multiprocessor, the best that others saw; {:.4g} bytes for a step",
                                      format_quantity(*l2, "B/s"), m.stage_bytes)});
  else if (t.feed != "none")
    m.ceilings.push_back({"L2", std::nullopt, missing_fact(device, "l2_read_per_cycle")});
  m.ceilings.push_back(dram_ceiling(device, flop, (2 * t.element_bytes() + result_bytes) * m.n * m.n));
}

}  // namespace

TileModel tile_model(const DeviceModel& device, const Tile& tile, double n) {
  TileModel m;
  m.tile = tile;
  m.n = n;
  m.stage_bytes = tile.stage_bytes();
  m.shared_bytes = tile.shared_bytes;
  double registers = 0;
  if (!tile.kernel.empty()) {
    const std::string architecture = device.tables.kernels.architecture_for(tile.file, device.gpu.compute_capability);
    for (const KernelFacts& k : device.tables.kernels.of(tile.file, architecture))
      if (k.kernel == tile.kernel) m.facts = k;
    if (m.facts) registers = m.facts->registers;
    if (const Conflicts* counted = device.tables.kernels.conflicts(tile.file, tile.kernel, "")) m.conflicts = *counted;
  }
  if (registers == 0) {
    m.fits_note = "there is no machine code of it here: a thread needs at least registers for its sums";
    registers = accumulators(tile);
  }
  if (device.multiprocessor == nullptr || !device.gpu.multiprocessors) {
    m.ceilings.push_back({"tiles", std::nullopt, "the multiprocessors of the class aren't known"});
    return m;
  }
  m.fits = occupancy(*device.multiprocessor, {tile.threads, registers, tile.shared_bytes});
  if (tile.blocks > 0 && tile.blocks < m.fits.blocks) {
    m.fits.blocks = tile.blocks;
    m.fits.by = "launch";
  }
  add_arithmetic(device, m);
  std::optional<double> arithmetic;
  if (const Ceiling* least = binding(m.ceilings)) arithmetic = least->rate;
  if (m.fits.blocks > 0) {
    m.waves = waves(n, n, tile.m, tile.n, *device.gpu.multiprocessors * m.fits.blocks);
    if (arithmetic)
      m.ceilings.push_back({"tiles", *arithmetic * m.waves.efficiency,
                            fmt::format("{:.0f} tiles are {:.2f} waves", m.waves.tiles, m.waves.waves)});
  } else {
    m.ceilings.push_back({"tiles", 0.0, "no block fits: " + m.fits.by});
  }
  add_ring(device, arithmetic, m);
  add_memory(device, m);
  return m;
}

}  // namespace assay::model
