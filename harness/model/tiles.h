// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// How the versions of the matrix product cut their work, as data (results/models/tiles.csv): the tile of a block, the
// stages of its ring, what a warp (wgmma: a group of four warps) computes of it, and by which instructions it is fed
// and multiplied. A row without a kernel is a plan, and the page says so.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace assay::model {

struct Tile {
  std::string version, file, kernel, type;
  double m = 0, n = 0, k = 0, stages = 0, threads = 0;
  double blocks = 0;              // launched for each multiprocessor at most; 0: one for each tile
  double shared_bytes = 0;        // dynamic and static, of a block
  double warp_m = 0, warp_n = 0;  // that one warp (or group) reads operands from shared memory for; 0: not told
  double shared_of_a_flop = 0;    // bytes of turns of shared memory, where warp_m and warp_n don't tell
  // none (each thread reads for itself), registers (loads, then stores into shared memory), cp.async, tma; fma, wmma,
  // mma.sync, wgmma.
  std::string feed, instruction;
  std::string note;

  double element_bytes() const { return type == "f32" ? 4 : 2; }
  double stage_bytes() const { return (m + n) * k * element_bytes(); }
};

// Error (exit 3) with file, line and column.
std::vector<Tile> read_tiles(const std::filesystem::path& path);

}  // namespace assay::model
