// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See formulas.h.
#include "harness/model/formulas.h"

#include <cmath>
#include <numeric>

namespace assay::model {
namespace {

constexpr double register_unit = 256, shared_unit = 128, register_files = 4, banks = 32;

double rounded_up(double value, double unit) { return std::ceil(value / unit) * unit; }

}  // namespace

Occupancy occupancy(const Multiprocessor& m, const BlockNeeds& needs) {
  const double warps = std::ceil(needs.threads / warp_lanes);
  Occupancy result;
  result.blocks = m.blocks;
  const auto limit = [&](double blocks, const char* by) {
    if (blocks >= result.blocks) return;
    result.blocks = blocks;
    result.by = by;
  };
  limit(std::floor(m.threads / warp_lanes / warps), "threads");
  const double of_a_warp = rounded_up(needs.registers_of_a_thread * warp_lanes, register_unit);
  if (of_a_warp > 0)
    limit(std::floor(std::floor(m.registers / register_files / of_a_warp) * register_files / warps), "registers");
  if (needs.registers_of_a_thread > m.registers_of_a_thread) limit(0, "registers of a thread");
  const double shared = rounded_up(needs.shared_bytes + m.shared_bytes_reserved, shared_unit);
  if (shared > 0) limit(std::floor(m.shared_bytes / shared), "shared memory");
  if (needs.shared_bytes > m.shared_bytes_of_a_block) limit(0, "shared memory of a block");
  result.threads = result.blocks * needs.threads;
  return result;
}

double bytes_needed(double latency_s, double bytes_per_second, double multiprocessors) {
  return latency_s * bytes_per_second / multiprocessors;
}

Waves waves(double m, double n, double tile_m, double tile_n, double slots) {
  Waves result;
  result.tiles = std::ceil(m / tile_m) * std::ceil(n / tile_n);
  result.waves = result.tiles / slots;
  // Tiles at the edge that are only partly in the matrix count for what is in it.
  result.efficiency = m * n / (tile_m * tile_n) / (std::ceil(result.waves) * slots);
  return result;
}

double stages_needed(double latency_s, double step_s) { return 1 + std::ceil(latency_s / step_s); }

int bank_turns(unsigned stride_words) {
  return stride_words == 0 ? 1 : static_cast<int>(std::gcd(stride_words, static_cast<unsigned>(banks)));
}

}  // namespace assay::model
